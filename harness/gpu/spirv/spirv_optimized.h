#pragma once

#include <cstdint>
#include <vector>

namespace assay::gpu {

/// The module as SPIRV-Tools optimizes it for speed, without debug information. Equal results run equally;
/// different ones may too. A module that cannot be optimized stays as it is.
std::vector<std::uint32_t> optimized(const std::vector<std::uint32_t>& words);

}  // namespace assay::gpu
