#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace assay::gpu {

/// The name of the first of a module's capabilities that no kernel may have, empty where there is none.
/// Kernels compute, from what their dispatches bind. What tells the time (ShaderClockKHR), reaches memory by
/// its address (PhysicalStorageBufferAddresses), or is not known here, would let a kernel tell that it is
/// timed, or find what another run left.
std::string refused_capability(std::span<const std::uint32_t> capabilities);

}  // namespace assay::gpu
