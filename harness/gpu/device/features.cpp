#include "harness/gpu/device/features.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::uint32_t never = ~0U;  ///< not part of any core version

constexpr std::array subgroup_operations{
    std::pair{VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, Feature::SubgroupArithmetic},
    std::pair{VK_SUBGROUP_FEATURE_SHUFFLE_BIT, Feature::SubgroupShuffle},
    std::pair{VK_SUBGROUP_FEATURE_VOTE_BIT, Feature::SubgroupVote},
    std::pair{VK_SUBGROUP_FEATURE_BALLOT_BIT, Feature::SubgroupBallot},
    std::pair{VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT, Feature::SubgroupShuffleRelative},
    std::pair{VK_SUBGROUP_FEATURE_CLUSTERED_BIT, Feature::SubgroupClustered},
    std::pair{VK_SUBGROUP_FEATURE_QUAD_BIT, Feature::SubgroupQuad}};

using FloatControls = VkPhysicalDeviceFloatControlsProperties;
constexpr std::array float_mode_members{
    std::pair{Feature::RoundsToEven32, &FloatControls::shaderRoundingModeRTEFloat32},
    std::pair{Feature::RoundsToEven16, &FloatControls::shaderRoundingModeRTEFloat16},
    std::pair{Feature::RoundsToZero32, &FloatControls::shaderRoundingModeRTZFloat32},
    std::pair{Feature::RoundsToZero16, &FloatControls::shaderRoundingModeRTZFloat16},
    std::pair{Feature::KeepsSubnormals32, &FloatControls::shaderDenormPreserveFloat32},
    std::pair{Feature::KeepsSubnormals16, &FloatControls::shaderDenormPreserveFloat16},
    std::pair{Feature::FlushesSubnormals32, &FloatControls::shaderDenormFlushToZeroFloat32},
    std::pair{Feature::FlushesSubnormals16, &FloatControls::shaderDenormFlushToZeroFloat16},
    std::pair{Feature::KeepsInfinities32, &FloatControls::shaderSignedZeroInfNanPreserveFloat32},
    std::pair{Feature::KeepsInfinities16, &FloatControls::shaderSignedZeroInfNanPreserveFloat16}};

}  // namespace

std::vector<Feature> float_modes(FloatControls controls) {
  if (controls.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE)
    controls.shaderDenormPreserveFloat16 = controls.shaderDenormFlushToZeroFloat16 = VK_FALSE;
  std::vector<Feature> found;
  for (const auto& [feature, member] : float_mode_members) {
    if (controls.*member) found.push_back(feature);
  }
  return found;
}

bool DeviceFacts::has(std::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool DeviceFacts::knows(std::string_view extension, std::uint32_t core) const {
  return api >= core || has(extension);
}

/// Chains `features` when the device knows the structure, and enables the extension when it is listed: a
/// shader that names the extension needs it on a device whose core version is older.
template <class T>
void FeatureChain::ask(T& features, VkStructureType type, const char* extension, std::uint32_t core) {
  features.sType = type;
  if (!facts_.knows(extension, core)) {
    return;
  }
  features.pNext = core_.pNext;
  core_.pNext = &features;
  if (facts_.has(extension)) {
    extensions_.push_back(extension);
  }
}

FeatureChain::FeatureChain(const DeviceFacts& facts, bool robust) : facts_(facts) {
  core_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  ask(storage16_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
      VK_KHR_16BIT_STORAGE_EXTENSION_NAME, VK_API_VERSION_1_1);
  ask(storage8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, VK_KHR_8BIT_STORAGE_EXTENSION_NAME,
      VK_API_VERSION_1_2);
  ask(float16_int8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
      VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, VK_API_VERSION_1_2);
  ask(dot_product_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
      VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, VK_API_VERSION_1_3);
  ask(subgroup_size_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
      VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3);
  ask(subgroup_types_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES,
      VK_KHR_SHADER_SUBGROUP_EXTENDED_TYPES_EXTENSION_NAME, VK_API_VERSION_1_2);
  ask(memory_model_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
      VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, VK_API_VERSION_1_2);
  ask(cooperative_khr_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
      VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, never);
  ask(cooperative_nv_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV,
      VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME, never);
  ask(executables_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
      VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, never);
  ask(fault_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT, VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
      never);
  ask(robust_images_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES,
      VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME, VK_API_VERSION_1_3);
  ask(zero_workgroup_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES,
      VK_KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_EXTENSION_NAME, VK_API_VERSION_1_3);
  // Compilers of SPIR-V 1.6 write workgroup sizes as LocalSizeId, which needs it.
  ask(maintenance4_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
      VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3);
  if (facts.has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) {
    extensions_.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  }
  vkGetPhysicalDeviceFeatures2(facts.handle, &core_);
  keep_what_kernels_need(robust);
}

/// Robust access is off unless requested: it costs time that users' programs do not spend, and hides writes
/// far past the end.
void FeatureChain::keep_what_kernels_need(bool robust) {
  const VkPhysicalDeviceFeatures all = core_.features;
  core_.features = {};
  core_.features.robustBufferAccess = robust ? all.robustBufferAccess : VK_FALSE;
  core_.features.shaderInt16 = all.shaderInt16;
  core_.features.shaderInt64 = all.shaderInt64;
  fault_.deviceFaultVendorBinary = VK_FALSE;
  storage16_.storagePushConstant16 = VK_FALSE;
  storage16_.storageInputOutput16 = VK_FALSE;
  storage8_.storagePushConstant8 = VK_FALSE;
  if (!robust) {
    robust_images_.robustImageAccess = VK_FALSE;
    zero_workgroup_.shaderZeroInitializeWorkgroupMemory = VK_FALSE;
    cooperative_khr_.cooperativeMatrixRobustBufferAccess = VK_FALSE;
    cooperative_nv_.cooperativeMatrixRobustBufferAccess = VK_FALSE;
  }
  if (facts_.has(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME)) {
    extensions_.push_back(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
  }
  // For macOS and iOS drivers: the specification demands that it is enabled if it is listed.
  if (facts_.has("VK_KHR_portability_subset")) {
    extensions_.push_back("VK_KHR_portability_subset");
  }
}

std::vector<Feature> FeatureChain::features() const {
  std::vector<Feature> found;
  const auto add = [&found](VkBool32 there, Feature feature) {
    if (there) {
      found.push_back(feature);
    }
  };
  add(storage8_.storageBuffer8BitAccess, Feature::Storage8);
  add(storage16_.storageBuffer16BitAccess, Feature::Storage16);
  add(storage8_.uniformAndStorageBuffer8BitAccess, Feature::UniformStorage8);
  add(storage16_.uniformAndStorageBuffer16BitAccess, Feature::UniformStorage16);
  add(float16_int8_.shaderInt8, Feature::Int8);
  add(core_.features.shaderInt16, Feature::Int16);
  add(float16_int8_.shaderFloat16, Feature::Float16);
  add(core_.features.shaderInt64, Feature::Int64);
  add(dot_product_.shaderIntegerDotProduct, Feature::DotProduct);
  add_subgroup_features(found);
  add_float_modes(found);
  add(subgroup_size_.subgroupSizeControl, Feature::SubgroupSizeControl);
  add(demands_full_subgroups(), Feature::FullSubgroups);
  add(maintenance4_.maintenance4, Feature::Maintenance4);
  add(memory_model_.vulkanMemoryModel, Feature::MemoryModel);
  add(memory_model_.vulkanMemoryModelDeviceScope, Feature::MemoryModelDeviceScope);
  add(cooperative_khr_.cooperativeMatrix, Feature::CooperativeMatrixKhr);
  add(cooperative_nv_.cooperativeMatrix, Feature::CooperativeMatrixNv);
  return found;
}

void FeatureChain::keep_only(const std::vector<Feature>& kept) {
  const auto keep = [&kept](VkBool32& member, Feature feature) {
    if (std::ranges::find(kept, feature) == kept.end()) member = VK_FALSE;
  };
  keep(storage8_.storageBuffer8BitAccess, Feature::Storage8);
  keep(storage8_.uniformAndStorageBuffer8BitAccess, Feature::UniformStorage8);
  keep(storage16_.storageBuffer16BitAccess, Feature::Storage16);
  keep(storage16_.uniformAndStorageBuffer16BitAccess, Feature::UniformStorage16);
  keep(float16_int8_.shaderInt8, Feature::Int8);
  keep(float16_int8_.shaderFloat16, Feature::Float16);
  keep(core_.features.shaderInt16, Feature::Int16);
  keep(core_.features.shaderInt64, Feature::Int64);
  keep(dot_product_.shaderIntegerDotProduct, Feature::DotProduct);
  keep(subgroup_size_.subgroupSizeControl, Feature::SubgroupSizeControl);
  keep(subgroup_size_.computeFullSubgroups, Feature::FullSubgroups);
  keep(maintenance4_.maintenance4, Feature::Maintenance4);
  keep(memory_model_.vulkanMemoryModel, Feature::MemoryModel);
  keep(memory_model_.vulkanMemoryModelDeviceScope, Feature::MemoryModelDeviceScope);
  keep(cooperative_khr_.cooperativeMatrix, Feature::CooperativeMatrixKhr);
  keep(cooperative_nv_.cooperativeMatrix, Feature::CooperativeMatrixNv);
}

/// These are properties: a shader gets each of them by an execution mode.
void FeatureChain::add_float_modes(std::vector<Feature>& found) const {
  if (!facts_.knows(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, VK_API_VERSION_1_2)) return;
  FloatControls controls{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &controls, {}};
  vkGetPhysicalDeviceProperties2(facts_.handle, &properties);
  const std::vector<Feature> modes = float_modes(controls);
  found.insert(found.end(), modes.begin(), modes.end());
}

/// Whether subgroup size control is available, and for compute shaders.
VkBool32 FeatureChain::demands_full_subgroups() const {
  if (!subgroup_size_.subgroupSizeControl || !subgroup_size_.computeFullSubgroups) {
    return VK_FALSE;
  }
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &sizes, {}};
  vkGetPhysicalDeviceProperties2(facts_.handle, &properties);
  return (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
}

/// Subgroup operations are properties, not features: there is nothing to enable.
void FeatureChain::add_subgroup_features(std::vector<Feature>& found) const {
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroup, {}};
  vkGetPhysicalDeviceProperties2(facts_.handle, &properties);
  if (!(subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT)) {
    return;
  }
  for (const auto& [bit, feature] : subgroup_operations) {
    if (subgroup.supportedOperations & bit) found.push_back(feature);
  }
}

}  // namespace assay::gpu
