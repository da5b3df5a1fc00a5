#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

/// The module, in which each variable in workgroup memory has zero as its initial value, so that a workgroup
/// finds nothing there that an earlier one left. Needs the feature shaderZeroInitializeWorkgroupMemory; it
/// takes time, which must be the same for whatever is compared. Throws Error as each_instruction() does.
std::vector<std::uint32_t> with_cleared_workgroup_memory(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
