#pragma once

#include "harness/gpu/device/vk.h"

#include <string>
#include <vector>

// Headers before 1.3.255 do not declare VK_KHR_cooperative_matrix; the values are from the Vulkan registry.
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
#endif

namespace assay::gpu {

#ifndef VK_KHR_cooperative_matrix
struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};
inline constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
    static_cast<VkStructureType>(1000506000);

/// Its members as the registry orders them; components and scopes are numbered as in the NV extension.
struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void* pNext;
  std::uint32_t rows, columns, depth;
  VkComponentTypeNV a_type, b_type, c_type, result_type;
  VkBool32 saturates;
  VkScopeNV scope;
};
inline constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR =
    static_cast<VkStructureType>(1000506001);
using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, VkCooperativeMatrixPropertiesKHR*);
#endif

/// The basic facts about a physical device: they decide which further queries are allowed.
struct DeviceFacts {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::uint32_t api = 0;  ///< the device's version, which is the one that counts
  std::vector<std::string> extensions;

  bool has(std::string_view extension) const;
  /// True when a structure of `extension` may be chained: the extension is listed, or part of the core since
  /// `core`.
  bool knows(std::string_view extension, std::uint32_t core) const;
};

/// The features that are properties of floats. Where all widths share what happens to subnormal values, a
/// module that says it of 16 bits must say it of 32 bits too, at a cost: there it counts as missing.
std::vector<Feature> float_modes(VkPhysicalDeviceFloatControlsProperties controls);

/// The optional features of a device that kernels may need. One object both lists the available features and
/// enables exactly those, so that DeviceInfo reports what the opened device has.
class FeatureChain {
 public:
  /// `robust`: see InstanceOptions::robust_access.
  explicit FeatureChain(const DeviceFacts& facts, bool robust = false);
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  std::vector<Feature> features() const;
  /// Turns off the features that are not in the list, for a device that has a profile. What kernels never ask
  /// for by a Feature (extended types of subgroups, statistics) stays.
  void keep_only(const std::vector<Feature>& kept);
  /// Whether the driver reports statistics of pipelines, such as registers.
  bool tells_statistics() const { return executables_.pipelineExecutableInfo == VK_TRUE; }

  /// Whether the driver reports where and why a device was lost.
  bool tells_faults() const { return fault_.deviceFault == VK_TRUE; }

  /// Whether workgroup memory may have initial values; asked for only with robust access.
  bool clears_workgroup_memory() const {
    return zero_workgroup_.shaderZeroInitializeWorkgroupMemory == VK_TRUE;
  }

  /// The pNext chain for VkDeviceCreateInfo.
  const void* chain() const { return &core_; }
  /// Extensions to enable together with chain(); the names have static lifetime.
  const std::vector<const char*>& extensions() const { return extensions_; }

 private:
  template <class T>
  void ask(T& features, VkStructureType type, const char* extension, std::uint32_t core);
  void keep_what_kernels_need(bool robust);
  void add_float_modes(std::vector<Feature>& found) const;
  VkBool32 demands_full_subgroups() const;
  void add_subgroup_features(std::vector<Feature>& found) const;

  const DeviceFacts& facts_;
  std::vector<const char*> extensions_;

  VkPhysicalDeviceFeatures2 core_{};
  VkPhysicalDevice16BitStorageFeatures storage16_{};
  VkPhysicalDevice8BitStorageFeatures storage8_{};
  VkPhysicalDeviceShaderFloat16Int8Features float16_int8_{};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot_product_{};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size_{};
  VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures subgroup_types_{};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_{};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperative_khr_{};
  VkPhysicalDeviceCooperativeMatrixFeaturesNV cooperative_nv_{};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables_{};
  VkPhysicalDeviceFaultFeaturesEXT fault_{};
  VkPhysicalDeviceImageRobustnessFeatures robust_images_{};
  VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures zero_workgroup_{};
  VkPhysicalDeviceMaintenance4Features maintenance4_{};
};

}  // namespace assay::gpu
