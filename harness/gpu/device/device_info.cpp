#include "harness/gpu/device/instance.h"
#include "harness/gpu/device/limits.h"
#include "harness/gpu/device/vk.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace assay::gpu {
namespace {

std::optional<DType> dtype_of_component(VkComponentTypeNV type) {
  switch (type) {
    case VK_COMPONENT_TYPE_FLOAT16_NV:
      return DType::F16;
    case VK_COMPONENT_TYPE_FLOAT32_NV:
      return DType::F32;
    case VK_COMPONENT_TYPE_SINT8_NV:
      return DType::I8;
    case VK_COMPONENT_TYPE_SINT32_NV:
      return DType::I32;
    default:
      return std::nullopt;
  }
}

std::vector<VkCooperativeMatrixPropertiesNV> properties_of(VkPhysicalDevice device) {
  std::uint32_t count = 0;
  check(vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, nullptr),
        "listing a device's cooperative matrices");
  std::vector<VkCooperativeMatrixPropertiesNV> found(
      count, {.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV});
  check(vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, found.data()),
        "listing a device's cooperative matrices");
  found.resize(count);
  return found;
}

/// The same by the KHR extension, whose function no version of Vulkan includes.
std::vector<VkCooperativeMatrixPropertiesKHR> properties_khr_of(VkPhysicalDevice device) {
  const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      vkGetInstanceProcAddr(volkGetLoadedInstance(), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (list == nullptr) return {};
  std::uint32_t count = 0;
  check(list(device, &count, nullptr), "listing a device's cooperative matrices");
  std::vector<VkCooperativeMatrixPropertiesKHR> found(
      count, {.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR});
  check(list(device, &count, found.data()), "listing a device's cooperative matrices");
  found.resize(count);
  return found;
}

/// The types of a product, as either extension lists them.
struct ListedTypes {
  VkComponentTypeNV a, b, c, result;
  VkScopeNV scope;
};

/// Adds a shape that kernels can use: both factors and both sums of one type, which has a dtype.
void add_shape(CooperativeShape shape, const ListedTypes& types, std::vector<CooperativeShape>& shapes) {
  const auto factors = dtype_of_component(types.a);
  const auto sums = dtype_of_component(types.c);
  const bool uniform = types.a == types.b && types.c == types.result;
  if (!factors || !sums || !uniform || types.scope != VK_SCOPE_SUBGROUP_NV) return;
  shape.factors = *factors;
  shape.sums = *sums;
  shapes.push_back(shape);
}

/// The shapes of DeviceInfo::cooperative_shapes, in the driver's order, those of the KHR extension first.
/// What counts is the list: there are drivers that announce the feature without one.
std::vector<CooperativeShape> cooperative_shapes(VkPhysicalDevice device, const DeviceInfo& info) {
  std::vector<CooperativeShape> shapes;
  if (info.has(Feature::CooperativeMatrixKhr)) {
    for (const VkCooperativeMatrixPropertiesKHR& one : properties_khr_of(device)) {
      add_shape({.rows = one.rows,
                 .columns = one.columns,
                 .depth = one.depth,
                 .extension = MatrixExtension::Khr,
                 .saturates = one.saturates == VK_TRUE},
                {one.a_type, one.b_type, one.c_type, one.result_type, one.scope}, shapes);
    }
  }
  if (info.has(Feature::CooperativeMatrixNv)) {
    for (const VkCooperativeMatrixPropertiesNV& one : properties_of(device)) {
      add_shape(
          {.rows = one.MSize, .columns = one.NSize, .depth = one.KSize, .extension = MatrixExtension::Nv},
          {one.AType, one.BType, one.CType, one.DType, one.scope}, shapes);
    }
  }
  return shapes;
}

/// For DeviceFacts::knows: an extension that no version of Vulkan includes.
constexpr std::uint32_t in_no_version = std::numeric_limits<std::uint32_t>::max();

/// The property structures of one device, queried in one call.
struct Properties {
  VkPhysicalDeviceProperties2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceShaderIntegerDotProductProperties dot_product{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
  VkPhysicalDeviceMaintenance4Properties maintenance4{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV multiprocessors{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD compute_units{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm_cores{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};

  bool has_pci = false;

  explicit Properties(const DeviceFacts& facts) {
    chain(id);
    chain(maintenance3);
    chain(subgroup);
    if (facts.knows(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, VK_API_VERSION_1_2)) {
      chain(driver);
    }
    if (facts.knows(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3)) {
      chain(subgroup_size);
    }
    if (facts.knows(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, VK_API_VERSION_1_3)) {
      chain(dot_product);
    }
    if (facts.knows(VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3)) {
      chain(maintenance4);
    }
    if (facts.knows(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, in_no_version)) {
      chain(pci);
      has_pci = true;
    }
    chain_shader_cores(facts);
    vkGetPhysicalDeviceProperties2(facts.handle, &core);
  }

 private:
  void chain_shader_cores(const DeviceFacts& facts) {
    if (facts.knows(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, in_no_version)) chain(multiprocessors);
    if (facts.knows(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, in_no_version)) chain(compute_units);
    if (facts.knows(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, in_no_version)) chain(arm_cores);
  }
  template <class T>
  void chain(T& properties) {
    properties.pNext = core.pNext;
    core.pNext = &properties;
  }
};

DeviceFacts facts_of(VkPhysicalDevice handle, std::uint32_t api) {
  std::uint32_t count = 0;
  check(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr),
        "listing a device's extensions");
  std::vector<VkExtensionProperties> found(count);
  check(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, found.data()),
        "listing a device's extensions");
  found.resize(count);
  DeviceFacts facts{.handle = handle, .api = api, .extensions = {}};
  for (const VkExtensionProperties& extension : found) {
    facts.extensions.emplace_back(extension.extensionName);
  }
  std::sort(facts.extensions.begin(), facts.extensions.end());
  return facts;
}

/// The first queue family for compute; families with timestamps are preferred.
std::optional<std::uint32_t> compute_family(const std::vector<VkQueueFamilyProperties>& families) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < families.size(); ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
      continue;
    }
    if (families[i].timestampValidBits > 0) {
      return i;
    }
    if (!found) {
      found = i;
    }
  }
  return found;
}

std::vector<VkQueueFamilyProperties> queue_families(VkPhysicalDevice handle) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  return families;
}

std::string type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "other";
  }
}

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

void add_identity(DeviceInfo& info, const Properties& properties) {
  const VkPhysicalDeviceProperties& core = properties.core.properties;
  info.name = core.deviceName;
  info.type = type_name(core.deviceType);
  info.driver_name = properties.driver.driverName;
  info.driver_info = properties.driver.driverInfo;
  if (info.driver_info.empty()) {  // before Vulkan 1.2 there is only the vendor's version number
    info.driver_info = fmt::format("{:#x}", core.driverVersion);
  }
  info.api_version =
      fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(core.apiVersion), VK_API_VERSION_MINOR(core.apiVersion),
                  VK_API_VERSION_PATCH(core.apiVersion));
  info.vendor_id = core.vendorID;
  info.device_id = core.deviceID;
  info.uuid = hex(properties.id.deviceUUID, VK_UUID_SIZE);
  const VkPhysicalDevicePCIBusInfoPropertiesEXT& pci = properties.pci;
  if (properties.has_pci) {
    info.pci_address =
        fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
  }
}

/// Identifies the device and the exact driver version, because compiled pipelines of another version are
/// useless.
std::string cache_identity(const DeviceInfo& info, const VkPhysicalDeviceProperties& core) {
  return fmt::format("device {} cache {} vendor {:#x} device {:#x} driver {:#x} {} {} api {}", info.uuid,
                     hex(core.pipelineCacheUUID, VK_UUID_SIZE), core.vendorID, core.deviceID,
                     core.driverVersion, info.driver_name, info.driver_info, info.api_version);
}

void add_limits(DeviceInfo& info, const VkPhysicalDeviceLimits& limits) {
  std::copy_n(limits.maxComputeWorkGroupCount, 3, info.max_workgroup_count.begin());
  std::copy_n(limits.maxComputeWorkGroupSize, 3, info.max_workgroup_size.begin());
  info.max_workgroup_invocations = limits.maxComputeWorkGroupInvocations;
  info.max_shared_bytes = limits.maxComputeSharedMemorySize;
  info.max_push_constant_bytes = limits.maxPushConstantsSize;
  info.max_storage_buffer_range = limits.maxStorageBufferRange;
  info.max_storage_buffers_per_stage = limits.maxPerStageDescriptorStorageBuffers;
  info.max_storage_images_per_stage = limits.maxPerStageDescriptorStorageImages;
  info.max_sampled_images_per_stage =
      std::min(limits.maxPerStageDescriptorSampledImages, limits.maxPerStageDescriptorSamplers);
  info.max_image_3d = limits.maxImageDimension3D;
  info.max_image_2d = limits.maxImageDimension2D;
  info.timestamp_period_ns = static_cast<double>(limits.timestampPeriod);
}

void add_subgroups(DeviceInfo& info, const Properties& properties) {
  info.subgroup_size = properties.subgroup.subgroupSize;
  const bool varies = properties.subgroup_size.maxSubgroupSize != 0;
  const SubgroupSizes unreported = unreported_subgroup_sizes(info.vendor_id, info.subgroup_size);
  info.min_subgroup_size = varies ? properties.subgroup_size.minSubgroupSize : unreported.least;
  info.max_subgroup_size = varies ? properties.subgroup_size.maxSubgroupSize : unreported.most;
  info.max_workgroup_subgroups = properties.subgroup_size.maxComputeWorkgroupSubgroups;
  info.dot_product_accelerated = properties.dot_product.integerDotProduct4x8BitPackedSignedAccelerated;
}

/// At most one of the three structures was filled in; the others have counts of 0.
std::uint32_t shader_cores(const Properties& properties) {
  const VkPhysicalDeviceShaderCorePropertiesAMD& amd = properties.compute_units;
  return properties.multiprocessors.shaderSMCount + properties.arm_cores.shaderCoreCount +
         amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
}

void add_memory(PhysicalDevice& device, const Properties& properties) {
  const VkPhysicalDeviceLimits& limits = properties.core.properties.limits;
  vkGetPhysicalDeviceMemoryProperties(device.facts.handle, &device.memory);
  for (std::uint32_t i = 0; i < device.memory.memoryHeapCount; ++i) {
    if (device.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
      device.info.device_memory_bytes += device.memory.memoryHeaps[i].size;
    }
  }
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t allocation = properties.maintenance3.maxMemoryAllocationSize;
  const std::uint64_t buffer = properties.maintenance4.maxBufferSize;
  device.max_allocation_bytes = allocation == 0 ? unlimited : allocation;
  device.max_buffer_bytes = buffer == 0 ? unlimited : buffer;
  device.max_allocations = limits.maxMemoryAllocationCount;
  device.non_coherent_atom = limits.nonCoherentAtomSize;
  device.image_granularity = limits.bufferImageGranularity;
}

}  // namespace

SubgroupSizes unreported_subgroup_sizes(std::uint32_t vendor_id, std::uint32_t subgroup_size) {
  constexpr std::uint32_t amd = 0x1002, qualcomm = 0x5143, intel = 0x8086;
  constexpr SubgroupSizes any{1, 128};  // all that Vulkan allows
  const bool has_several = vendor_id == amd || vendor_id == qualcomm || vendor_id == intel;
  return has_several ? any : SubgroupSizes{subgroup_size, subgroup_size};
}

std::optional<PhysicalDevice> describe(VkPhysicalDevice handle) {
  VkPhysicalDeviceProperties first{};
  vkGetPhysicalDeviceProperties(handle, &first);
  const std::vector<VkQueueFamilyProperties> families = queue_families(handle);
  const std::optional<std::uint32_t> family = compute_family(families);
  if (first.apiVersion < VK_API_VERSION_1_1 || !family) {
    return std::nullopt;
  }
  PhysicalDevice device;
  device.facts = facts_of(handle, first.apiVersion);
  device.queue_family = *family;
  const Properties properties(device.facts);
  add_identity(device.info, properties);
  device.cache_identity = cache_identity(device.info, properties.core.properties);
  add_limits(device.info, properties.core.properties.limits);
  add_subgroups(device.info, properties);
  device.info.shader_cores = shader_cores(properties);
  add_memory(device, properties);
  device.info.textures = supported_textures(handle);
  device.info.timestamp_valid_bits = families[*family].timestampValidBits;
  device.info.extensions = device.facts.extensions;
  device.info.features = FeatureChain(device.facts).features();
  device.info.cooperative_shapes = cooperative_shapes(handle, device.info);
  return device;
}

}  // namespace assay::gpu
