#pragma once

// For tests only: whoever includes this links assay_gpu_spirv_tools.

#include <spirv-tools/libspirv.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::gpu {

/// What spirv-val says against a module for Vulkan 1.1, or nothing when it is valid.
inline std::optional<std::string> validate_spirv(const std::vector<std::uint32_t>& words) {
  std::string complaints;
  spvtools::SpirvTools listening(SPV_ENV_VULKAN_1_1);
  listening.SetMessageConsumer(
      [&complaints](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
        complaints += std::string(message) + '\n';
      });
  if (listening.Validate(words)) {
    return std::nullopt;
  }
  return complaints.empty() ? "invalid SPIR-V" : complaints;
}

}  // namespace assay::gpu
