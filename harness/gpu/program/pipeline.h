#pragma once

#include "harness/gpu/device/device.h"

#include <map>
#include <memory>
#include <optional>

namespace assay::gpu {

/// The pipeline of one dispatch, ready to be recorded.
struct Pipeline {
  std::vector<VkDescriptorType> bindings;            ///< type of each binding
  std::map<std::uint32_t, std::uint32_t> constants;  ///< specialization constants: value by id
  std::string spirv_hash;
  Handle<VkDescriptorSetLayout> set_layout;
  Handle<VkPipelineLayout> layout;
  Handle<VkShaderModule> module;
  Handle<VkPipeline> handle;
  double creation_ms = 0;
  std::optional<ExecutableStatistics> told;  ///< statistics of the driver, once queried
};

/// Dispatches whose pipelines would be equal share one.
using SharedPipeline = std::shared_ptr<Pipeline>;

/// Creates the pipeline of a dispatch. `bindings` are the descriptor types of the dispatch's bindings;
/// `guard` is in bytes. Throws Error when the dispatch does not set exactly the specialization constants of
/// its shader (specialization()).
Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard);

/// Creates another VkPipeline of the same dispatch with `flags`, using the layout, shader and constants of
/// `pipeline`.
Handle<VkPipeline> create_handle(const Device::State& device, const Dispatch& dispatch,
                                 const Pipeline& pipeline, VkPipelineCreateFlags flags);

/// The descriptor type by which a resource of `form` is bound.
VkDescriptorType descriptor_type(Form form, Binding::Access access);

}  // namespace assay::gpu
