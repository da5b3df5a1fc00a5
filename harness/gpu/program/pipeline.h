#pragma once

#include "harness/gpu/device/device.h"

#include <map>
#include <memory>
#include <optional>

namespace assay::gpu {

/// One dispatch, ready to be recorded.
struct Pipeline {
  std::vector<VkDescriptorType> bindings;            ///< what each binding is
  std::map<std::uint32_t, std::uint32_t> constants;  ///< specialization constants: value by id
  std::string spirv_hash;
  Handle<VkDescriptorSetLayout> set_layout;
  Handle<VkPipelineLayout> layout;
  Handle<VkShaderModule> module;
  Handle<VkPipeline> handle;
  double creation_ms = 0;
  std::optional<ExecutableStatistics> told;  ///< by the driver, kept when it was asked
};

/// Programs that differ in nothing that a pipeline is made of share it.
using SharedPipeline = std::shared_ptr<Pipeline>;

/// `bindings`: what each of the dispatch's is; `guard` is in bytes. Throws Error where the dispatch does not
/// set just the specialization constants of its shader (specialization()).
Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard);

/// One more VkPipeline of the same dispatch, with `flags`; `pipeline` lends its layout, shader and constants.
Handle<VkPipeline> create_handle(const Device::State& device, const Dispatch& dispatch,
                                 const Pipeline& pipeline, VkPipelineCreateFlags flags);

/// What a resource of that form is bound as.
VkDescriptorType descriptor_type(Form form, Binding::Access access);

}  // namespace assay::gpu
