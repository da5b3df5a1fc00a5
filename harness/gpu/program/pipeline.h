#pragma once

#include "harness/gpu/device/device.h"

namespace assay::gpu {

/// One dispatch, ready to be recorded.
struct Pipeline {
  std::vector<VkDescriptorType> bindings;  ///< what each binding is
  std::string spirv_hash;
  Handle<VkDescriptorSetLayout> set_layout;
  Handle<VkPipelineLayout> layout;
  Handle<VkShaderModule> module;
  Handle<VkPipeline> handle;
};

/// Specialization constants 0..3 are set here, the dispatch's own after them; ids that the shader lacks are
/// ignored by Vulkan. `bindings`: what each of the dispatch's is; `guard` is in bytes.
Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard);

/// One more VkPipeline of the same dispatch, with `flags`; `pipeline` lends its layout and its shader.
Handle<VkPipeline> create_handle(const Device::State& device, const Dispatch& dispatch,
                                 const Pipeline& pipeline, std::uint32_t guard, VkPipelineCreateFlags flags);

/// What a resource of that form is bound as.
VkDescriptorType descriptor_type(Form form);

}  // namespace assay::gpu
