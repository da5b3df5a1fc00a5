#pragma once

#include "harness/gpu/device/features.h"
#include "harness/gpu/device/vk.h"

#include <optional>
#include <string>

namespace assay::gpu {

/// A device of the loader's list, with everything needed to open it and to allocate on it.
struct PhysicalDevice {
  DeviceFacts facts;
  DeviceInfo info;
  std::string cache_identity;  ///< identifies the driver whose compiled pipelines the device accepts
  std::uint32_t queue_family = 0;
  VkPhysicalDeviceMemoryProperties memory{};
  std::uint64_t max_allocation_bytes = 0;  ///< maxMemoryAllocationSize
  std::uint64_t max_buffer_bytes = 0;      ///< maxBufferSize; ~0 where the device does not say
  std::uint32_t max_allocations = 0;       ///< maxMemoryAllocationCount
  std::uint64_t non_coherent_atom = 1;     ///< nonCoherentAtomSize
  std::uint64_t image_granularity = 1;     ///< bufferImageGranularity
};

/// Everything about `handle`, or nothing for a device below Vulkan 1.1 or without a compute queue.
std::optional<PhysicalDevice> describe(VkPhysicalDevice handle);

}  // namespace assay::gpu
