#include "harness/gpu/program/interface_check.h"

#include "harness/gpu/device/limits.h"
#include "harness/gpu/program/dispatch_check.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace assay::gpu {
namespace {

using Need = std::optional<std::string>;

/// A feature that a device must have for a capability.
struct NeededFeature {
  std::uint32_t capability = 0;
  Feature feature = Feature::Int8;
};

constexpr std::array needed_features{
    NeededFeature{spv::CapabilityInt8, Feature::Int8},
    NeededFeature{spv::CapabilityInt16, Feature::Int16},
    NeededFeature{spv::CapabilityInt64, Feature::Int64},
    NeededFeature{spv::CapabilityFloat16, Feature::Float16},
    NeededFeature{spv::CapabilityStorageBuffer8BitAccess, Feature::Storage8},
    NeededFeature{spv::CapabilityUniformAndStorageBuffer8BitAccess, Feature::UniformStorage8},
    NeededFeature{spv::CapabilityStorageBuffer16BitAccess, Feature::Storage16},
    NeededFeature{spv::CapabilityStorageUniform16, Feature::UniformStorage16},
    NeededFeature{spv::CapabilityGroupNonUniformArithmetic, Feature::SubgroupArithmetic},
    NeededFeature{spv::CapabilityGroupNonUniformShuffle, Feature::SubgroupShuffle},
    NeededFeature{spv::CapabilityGroupNonUniformVote, Feature::SubgroupVote},
    NeededFeature{spv::CapabilityGroupNonUniformBallot, Feature::SubgroupBallot},
    NeededFeature{spv::CapabilityGroupNonUniformShuffleRelative, Feature::SubgroupShuffleRelative},
    NeededFeature{spv::CapabilityGroupNonUniformClustered, Feature::SubgroupClustered},
    NeededFeature{spv::CapabilityGroupNonUniformQuad, Feature::SubgroupQuad},
    NeededFeature{spv::CapabilityVulkanMemoryModel, Feature::MemoryModel},
    NeededFeature{spv::CapabilityVulkanMemoryModelDeviceScope, Feature::MemoryModelDeviceScope},
    NeededFeature{capability_dot_product_input_all, Feature::DotProduct},
    NeededFeature{capability_dot_product, Feature::DotProduct},
    NeededFeature{spv::CapabilityCooperativeMatrixNV, Feature::CooperativeMatrixNv},
    NeededFeature{capability_cooperative_matrix_khr, Feature::CooperativeMatrixKhr},
};

/// Capabilities whose features assay enables on no device.
constexpr std::array never_enabled{spv::CapabilityStorageImageExtendedFormats,
                                   spv::CapabilityStorageImageReadWithoutFormat,
                                   spv::CapabilityStorageImageWriteWithoutFormat,
                                   spv::CapabilitySubgroupBallotKHR,
                                   spv::CapabilitySubgroupVoteKHR,
                                   spv::CapabilityFloat64,
                                   spv::CapabilityInt64Atomics,
                                   spv::CapabilityStoragePushConstant16,
                                   spv::CapabilityStoragePushConstant8};

/// The minor version of a module; the major one is 1.
std::uint32_t spirv_version(std::span<const std::uint32_t> words) {
  constexpr std::uint32_t minor_shift = 8;
  return words[1] >> minor_shift & 0xFFU;
}

/// The latest minor version of SPIR-V that a device of that version of Vulkan ("1.3.2") must take.
std::uint32_t spirv_version_of(std::string_view vulkan) {
  if (vulkan.starts_with("1.1")) return 3;
  return vulkan.starts_with("1.2") ? 5 : 6;
}

Need unmet_capability(const ShaderInterface& interface, const DeviceInfo& device) {
  for (const std::uint32_t capability : interface.capabilities) {
    const auto needed = std::ranges::find(needed_features, capability, &NeededFeature::capability);
    if (needed != needed_features.end() && !device.has(needed->feature))
      return fmt::format("{}, which is missing", name_of(needed->feature));
    if (std::ranges::find(never_enabled, capability) != never_enabled.end()) {
      return fmt::format("the SPIR-V capability {}, whose feature assay does not enable",
                         capability_name(capability));
    }
  }
  return std::nullopt;
}

/// A feature that a device must have for an execution mode of floats of `bits`.
struct NeededMode {
  std::uint32_t mode = 0, bits = 0;
  Feature feature = Feature::Int8;
};

constexpr std::array needed_modes{
    NeededMode{spv::ExecutionModeRoundingModeRTE, 32, Feature::RoundsToEven32},
    NeededMode{spv::ExecutionModeRoundingModeRTE, 16, Feature::RoundsToEven16},
    NeededMode{spv::ExecutionModeRoundingModeRTZ, 32, Feature::RoundsToZero32},
    NeededMode{spv::ExecutionModeRoundingModeRTZ, 16, Feature::RoundsToZero16},
    NeededMode{spv::ExecutionModeDenormPreserve, 32, Feature::KeepsSubnormals32},
    NeededMode{spv::ExecutionModeDenormPreserve, 16, Feature::KeepsSubnormals16},
    NeededMode{spv::ExecutionModeDenormFlushToZero, 32, Feature::FlushesSubnormals32},
    NeededMode{spv::ExecutionModeDenormFlushToZero, 16, Feature::FlushesSubnormals16},
    NeededMode{spv::ExecutionModeSignedZeroInfNanPreserve, 32, Feature::KeepsInfinities32},
    NeededMode{spv::ExecutionModeSignedZeroInfNanPreserve, 16, Feature::KeepsInfinities16}};

Need unmet_mode(const SpirvInstruction& instruction, const DeviceInfo& device) {
  const auto& operands = instruction.operands;
  std::optional<Feature> needed;
  if (operands[1] == spv::ExecutionModeLocalSizeId) needed = Feature::Maintenance4;
  const bool is_of_floats =
      operands[1] >= spv::ExecutionModeDenormPreserve && operands[1] <= spv::ExecutionModeRoundingModeRTZ;
  if (is_of_floats && operands.size() == 3 && operands[2] == 64)
    return "a mode of 64-bit floats, a feature that assay does not enable";
  for (const NeededMode& one : needed_modes) {
    if (operands.size() == 3 && operands[1] == one.mode && operands[2] == one.bits) needed = one.feature;
  }
  if (!needed || device.has(*needed)) return std::nullopt;
  return fmt::format("{}, which is missing", name_of(*needed));
}

Need unmet_mode(std::span<const std::uint32_t> words, const DeviceInfo& device) {
  Need need;
  each_global_instruction(words, "the execution modes", [&](const SpirvInstruction& instruction) {
    const bool is_mode =
        instruction.opcode == spv::OpExecutionMode || instruction.opcode == spv::OpExecutionModeId;
    if (is_mode && !need) need = unmet_mode(instruction, device);
  });
  return need;
}

Need unmet_size(const ShaderInterface& interface, const DeviceInfo& device) {
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < interface.local_size.size(); ++i) {
    invocations *= interface.local_size[i];
    if (interface.local_size[i] > device.max_workgroup_size[i]) {
      return fmt::format("{} invocations in one dimension of a workgroup, maxComputeWorkGroupSize[{}] is {}",
                         interface.local_size[i], i, device.max_workgroup_size[i]);
    }
  }
  if (invocations > device.max_workgroup_invocations) {
    return fmt::format("{} invocations in a workgroup, maxComputeWorkGroupInvocations is {}", invocations,
                       device.max_workgroup_invocations);
  }
  if (interface.push_bytes > device.max_push_constant_bytes) {
    return fmt::format("{} bytes of push constants, maxPushConstantsSize is {}", interface.push_bytes,
                       device.max_push_constant_bytes);
  }
  return std::nullopt;
}

/// A driver may crash on such a shader. No device could run it, so that it is not merely unsupported.
void refuse_empty_workgroup(const Dispatch& dispatch, const ShaderInterface& shader) {
  for (std::size_t i = 0; i < shader.local_size.size(); ++i) {
    if (shader.local_size[i] > 0) continue;
    throw Error(
        fmt::format("dispatch '{}' has 0 invocations in a workgroup along {}, and must have at least 1",
                    dispatch.label, "xyz"[i]));
  }
}

void refuse_beyond_device(const Dispatch& dispatch, const ShaderInterface& shader, const DeviceInfo& device) {
  if (shader.shared_bytes <= device.max_shared_bytes) return;
  throw Unsupported(
      fmt::format("dispatch '{}' needs {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                  dispatch.label, shader.shared_bytes, device.max_shared_bytes));
}

}  // namespace

std::optional<std::string> unmet_need(std::span<const std::uint32_t> words, const ShaderInterface& interface,
                                      const DeviceInfo& device) {
  if (const Need need = unmet_capability(interface, device)) return need;
  const std::uint32_t version = spirv_version(words), latest = spirv_version_of(device.api_version);
  if (version > latest) {
    return fmt::format("SPIR-V 1.{}, and Vulkan {} takes at most 1.{}", version, device.api_version, latest);
  }
  if (const Need need = unmet_mode(words, device)) return need;
  return unmet_size(interface, device);
}

void check_interfaces(const Program& program, std::span<const Physical> tensors,
                      std::span<const ShaderInterface> interfaces, const DeviceInfo& device,
                      std::span<const TensorAccess> access, const LateUseOf& late_use) {
  SetupCheck setup(program);
  AccessCheck accesses(program, access, late_use);
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchCheck one(program, tensors, program.dispatches[i], interfaces[i]);
    one.check();
    refuse_empty_workgroup(program.dispatches[i], interfaces[i]);
    setup.check(one);
    accesses.check(one, i);
  }
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    refuse_beyond_device(program.dispatches[i], interfaces[i], device);
  }
}

}  // namespace assay::gpu
