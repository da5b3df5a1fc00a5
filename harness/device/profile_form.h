#pragma once

#include "harness/device/device_info.h"

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

// The JSON form of Vulkan Profiles: where it has what DeviceInfo has. For device_profile_reader.cpp and
// device_profile_writer.cpp.

namespace assay::profile_form {

inline constexpr std::uint64_t most_u32 = std::numeric_limits<std::uint32_t>::max();

inline constexpr std::array type_names{std::pair{"VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU", "discrete"},
                                       std::pair{"VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU", "integrated"},
                                       std::pair{"VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU", "virtual"},
                                       std::pair{"VK_PHYSICAL_DEVICE_TYPE_CPU", "cpu"},
                                       std::pair{"VK_PHYSICAL_DEVICE_TYPE_OTHER", "other"}};

inline constexpr const char* compute_stage = "VK_SHADER_STAGE_COMPUTE_BIT";

/// A feature that is one of the form's "supportedOperations" of subgroups.
struct SubgroupOperation {
  Feature feature;
  const char* bit;
};
inline constexpr std::array subgroup_operations{
    SubgroupOperation{Feature::SubgroupArithmetic, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT"},
    SubgroupOperation{Feature::SubgroupShuffle, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT"},
    SubgroupOperation{Feature::SubgroupVote, "VK_SUBGROUP_FEATURE_VOTE_BIT"},
    SubgroupOperation{Feature::SubgroupBallot, "VK_SUBGROUP_FEATURE_BALLOT_BIT"},
    SubgroupOperation{Feature::SubgroupShuffleRelative, "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT"},
    SubgroupOperation{Feature::SubgroupClustered, "VK_SUBGROUP_FEATURE_CLUSTERED_BIT"},
    SubgroupOperation{Feature::SubgroupQuad, "VK_SUBGROUP_FEATURE_QUAD_BIT"}};

// The structures that have a member, the newest version of Vulkan first: the first that a file has counts.
inline constexpr std::array size_properties{"VkPhysicalDeviceVulkan13Properties",
                                            "VkPhysicalDeviceSubgroupSizeControlProperties",
                                            "VkPhysicalDeviceSubgroupSizeControlPropertiesEXT"};
inline constexpr std::array dot_product_properties{"VkPhysicalDeviceVulkan13Properties",
                                                   "VkPhysicalDeviceShaderIntegerDotProductProperties",
                                                   "VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR"};
inline constexpr std::array float_properties{"VkPhysicalDeviceVulkan12Properties",
                                             "VkPhysicalDeviceFloatControlsProperties",
                                             "VkPhysicalDeviceFloatControlsPropertiesKHR"};

/// Features that are properties of floats; their names are the members'. All but the first are written only
/// of a device that has them: see FeatureMember::is_always_written.
inline constexpr std::array float_modes{Feature::RoundsToEven32,      Feature::RoundsToEven16,
                                        Feature::RoundsToZero32,      Feature::RoundsToZero16,
                                        Feature::KeepsSubnormals32,   Feature::KeepsSubnormals16,
                                        Feature::FlushesSubnormals32, Feature::FlushesSubnormals16,
                                        Feature::KeepsInfinities32,   Feature::KeepsInfinities16};

/// A feature that is one boolean of the form's "features"; profile_json() writes the second structure.
struct FeatureMember {
  Feature feature;
  const char* member;
  std::array<const char*, 3> structures;
  /// False: it is written only of a device that has it. Profiles from before it was known are then still
  /// written as they were, so that their names, which have a hash of that, stay.
  bool is_always_written = true;
};
inline constexpr std::array feature_members{
    FeatureMember{Feature::Storage8,
                  "storageBuffer8BitAccess",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDevice8BitStorageFeatures",
                   "VkPhysicalDevice8BitStorageFeaturesKHR"}},
    FeatureMember{Feature::Storage16,
                  "storageBuffer16BitAccess",
                  {"VkPhysicalDeviceVulkan11Features", "VkPhysicalDevice16BitStorageFeatures",
                   "VkPhysicalDevice16BitStorageFeaturesKHR"}},
    FeatureMember{Feature::Int8,
                  "shaderInt8",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceShaderFloat16Int8Features",
                   "VkPhysicalDeviceShaderFloat16Int8FeaturesKHR"}},
    FeatureMember{Feature::Int16, "shaderInt16", {"VkPhysicalDeviceFeatures", "VkPhysicalDeviceFeatures"}},
    FeatureMember{Feature::Float16,
                  "shaderFloat16",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceShaderFloat16Int8Features",
                   "VkPhysicalDeviceShaderFloat16Int8FeaturesKHR"}},
    FeatureMember{Feature::Int64, "shaderInt64", {"VkPhysicalDeviceFeatures", "VkPhysicalDeviceFeatures"}},
    FeatureMember{Feature::DotProduct,
                  "shaderIntegerDotProduct",
                  {"VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceShaderIntegerDotProductFeatures",
                   "VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR"}},
    FeatureMember{Feature::SubgroupSizeControl,
                  "subgroupSizeControl",
                  {"VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceSubgroupSizeControlFeatures",
                   "VkPhysicalDeviceSubgroupSizeControlFeaturesEXT"}},
    FeatureMember{Feature::FullSubgroups,
                  "computeFullSubgroups",
                  {"VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceSubgroupSizeControlFeatures",
                   "VkPhysicalDeviceSubgroupSizeControlFeaturesEXT"}},
    FeatureMember{
        Feature::CooperativeMatrixKhr,
        "cooperativeMatrix",
        {"VkPhysicalDeviceCooperativeMatrixFeaturesKHR", "VkPhysicalDeviceCooperativeMatrixFeaturesKHR"}},
    FeatureMember{
        Feature::CooperativeMatrixNv,
        "cooperativeMatrix",
        {"VkPhysicalDeviceCooperativeMatrixFeaturesNV", "VkPhysicalDeviceCooperativeMatrixFeaturesNV"}},
    FeatureMember{Feature::UniformStorage8,
                  "uniformAndStorageBuffer8BitAccess",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDevice8BitStorageFeatures",
                   "VkPhysicalDevice8BitStorageFeaturesKHR"},
                  false},
    FeatureMember{Feature::UniformStorage16,
                  "uniformAndStorageBuffer16BitAccess",
                  {"VkPhysicalDeviceVulkan11Features", "VkPhysicalDevice16BitStorageFeatures",
                   "VkPhysicalDevice16BitStorageFeaturesKHR"},
                  false},
    FeatureMember{Feature::MemoryModel,
                  "vulkanMemoryModel",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceVulkanMemoryModelFeatures",
                   "VkPhysicalDeviceVulkanMemoryModelFeaturesKHR"},
                  false},
    FeatureMember{Feature::MemoryModelDeviceScope,
                  "vulkanMemoryModelDeviceScope",
                  {"VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceVulkanMemoryModelFeatures",
                   "VkPhysicalDeviceVulkanMemoryModelFeaturesKHR"},
                  false},
    FeatureMember{Feature::Maintenance4,
                  "maintenance4",
                  {"VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceMaintenance4Features",
                   "VkPhysicalDeviceMaintenance4FeaturesKHR"},
                  false}};

/// A limit of VkPhysicalDeviceLimits that is one number; DeviceInfo's initial values are the least that
/// Vulkan requires.
struct LimitMember {
  const char* name;
  std::uint32_t DeviceInfo::*member;
};
inline constexpr std::array limit_members{
    LimitMember{"maxComputeWorkGroupInvocations", &DeviceInfo::max_workgroup_invocations},
    LimitMember{"maxComputeSharedMemorySize", &DeviceInfo::max_shared_bytes},
    LimitMember{"maxPushConstantsSize", &DeviceInfo::max_push_constant_bytes},
    LimitMember{"maxPerStageDescriptorStorageBuffers", &DeviceInfo::max_storage_buffers_per_stage},
    LimitMember{"maxPerStageDescriptorStorageImages", &DeviceInfo::max_storage_images_per_stage},
    LimitMember{"maxPerStageDescriptorSampledImages", &DeviceInfo::max_sampled_images_per_stage},
    LimitMember{"maxPerStageDescriptorSamplers", &DeviceInfo::max_sampled_images_per_stage},
    LimitMember{"maxImageDimension2D", &DeviceInfo::max_image_2d},
    LimitMember{"maxImageDimension3D", &DeviceInfo::max_image_3d}};

}  // namespace assay::profile_form
