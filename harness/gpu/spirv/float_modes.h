#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// What a module may demand of a device that computes with 16-bit floats (SPV_KHR_float_controls). Without a
/// demand Vulkan lets the device round results towards zero and take subnormal values for zero.
struct FloatModes {
  bool rounds_to_even = false;       ///< RoundingModeRTE 16, and 32 beside it: a device may have one for both
  bool keeps_subnormals_16 = false;  ///< DenormPreserve 16
};

struct ModuleWithModes {
  std::vector<std::uint32_t> words;
  std::string added;  ///< "RoundingModeRTE 16, DenormPreserve 16"; empty: nothing
};

/// The module that demands these modes for the widths it uses: it has floats of the width, or converts them
/// from or to 16 bits (packHalf2x16() too). A mode of its own stays, and so does its opposite. GLSL has no
/// syntax for modes. Throws Error as each_instruction() does.
ModuleWithModes with_float_modes(std::span<const std::uint32_t> words, const FloatModes& modes);

}  // namespace assay::gpu
