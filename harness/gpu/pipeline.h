#pragma once

#include "harness/gpu/device.h"

namespace assay::gpu {

/// One dispatch, ready to be recorded.
struct Pipeline {
  Handle<VkDescriptorSetLayout> set_layout;
  Handle<VkPipelineLayout> layout;
  Handle<VkPipeline> handle;
};

/// Specialization constants 0..3 are set here, the dispatch's own after them; ids that the shader lacks are
/// ignored by Vulkan. `guard` is in bytes.
Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch, const Spirv& spirv,
                         std::uint32_t guard);

}  // namespace assay::gpu
