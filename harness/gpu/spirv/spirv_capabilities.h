#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace assay::gpu {

// Numbers from the SPIR-V registry for which Debian's glslang has no names.
inline constexpr std::uint32_t capability_dot_product_input_all = 6016;
inline constexpr std::uint32_t capability_dot_product = 6019;
inline constexpr std::uint32_t capability_cooperative_matrix_khr = 6022;

/// The name of the first of a module's capabilities that no kernel may have; empty when there is none. A
/// kernel may only compute from what its dispatch binds. Capabilities that read a clock (ShaderClockKHR),
/// access memory by address (PhysicalStorageBufferAddresses), or are unknown here could let a kernel detect
/// that it is timed, or find results of an earlier run.
std::string refused_capability(std::span<const std::uint32_t> capabilities);

/// Returns the name of a capability: "Float64", "number 6400 of the SPIR-V registry".
std::string capability_name(std::uint32_t capability);

}  // namespace assay::gpu
