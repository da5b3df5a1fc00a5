#pragma once

#include <spirv-tools/libspirv.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::gpu {

/// The errors of spirv-val in a module for Vulkan 1.1; nothing when it is valid.
inline std::optional<std::string> validate_spirv(const std::vector<std::uint32_t>& words) {
  std::string complaints;
  spvtools::SpirvTools listening(SPV_ENV_VULKAN_1_1);
  listening.SetMessageConsumer(
      [&complaints](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
        complaints += std::string(message) + '\n';
      });
  spvtools::ValidatorOptions options;
  options.SetFriendlyNames(false);  // they take as long as everything else
  if (listening.Validate(words.data(), words.size(), options)) {
    return std::nullopt;
  }
  return complaints.empty() ? "invalid SPIR-V" : complaints;
}

}  // namespace assay::gpu
