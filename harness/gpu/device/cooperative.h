#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/device/vk.h"

#include <vector>

namespace assay::gpu {

/// The shapes of DeviceInfo::cooperative_shapes, in the driver's order; the device must have the feature.
std::vector<CooperativeShape> cooperative_shapes(VkPhysicalDevice device);

}  // namespace assay::gpu
