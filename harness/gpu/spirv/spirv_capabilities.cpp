#include "harness/gpu/spirv/spirv_capabilities.h"

#include <fmt/format.h>
#include <glslang/SPIRV/doc.h>
#include <glslang/SPIRV/spirv.hpp>

#include <algorithm>
#include <array>

namespace assay::gpu {
namespace {

/// A range of capability numbers, both ends included.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

constexpr std::array computing = {
    // Matrix, Shader; Float16, Float64, Int64, Int64Atomics; Int16; Int8
    Range{spv::CapabilityMatrix, spv::CapabilityShader},
    Range{spv::CapabilityFloat16Buffer, spv::CapabilityInt64Atomics},
    Range{spv::CapabilityInt16, spv::CapabilityInt16},
    Range{spv::CapabilityInt8, spv::CapabilityInt8},
    // Images, in formats of every kind
    Range{spv::CapabilityStorageImageExtendedFormats, spv::CapabilityImageQuery},
    Range{spv::CapabilityStorageImageReadWithoutFormat, spv::CapabilityStorageImageWriteWithoutFormat},
    // Subgroups
    Range{spv::CapabilityGroupNonUniform, spv::CapabilityGroupNonUniformQuad},
    Range{spv::CapabilitySubgroupBallotKHR, spv::CapabilitySubgroupBallotKHR},
    Range{spv::CapabilitySubgroupVoteKHR, spv::CapabilitySubgroupVoteKHR},
    // Narrow values in buffers and push constants
    Range{spv::CapabilityStorageBuffer16BitAccess, spv::CapabilityStoragePushConstant16},
    Range{spv::CapabilityStorageBuffer8BitAccess, spv::CapabilityStoragePushConstant8},
    // How floats are rounded
    Range{spv::CapabilityDenormPreserve, spv::CapabilityRoundingModeRTZ},
    // Memory model, matrix units, dot products
    Range{spv::CapabilityVulkanMemoryModel, spv::CapabilityVulkanMemoryModelDeviceScope},
    Range{spv::CapabilityCooperativeMatrixNV, spv::CapabilityCooperativeMatrixNV},
    Range{capability_dot_product_input_all, capability_dot_product},
    Range{capability_cooperative_matrix_khr, capability_cooperative_matrix_khr},
};

bool computes(std::uint32_t capability) {
  return std::ranges::any_of(
      computing, [&](const Range& range) { return range.first <= capability && capability <= range.last; });
}

}  // namespace

std::string refused_capability(std::span<const std::uint32_t> capabilities) {
  const auto found = std::ranges::find_if_not(capabilities, computes);
  return found == capabilities.end() ? "" : capability_name(*found);
}

std::string capability_name(std::uint32_t capability) {
  const std::string name = spv::CapabilityString(static_cast<int>(capability));
  return name == "Bad" ? fmt::format("number {} of the SPIR-V registry", capability) : name;
}

}  // namespace assay::gpu
