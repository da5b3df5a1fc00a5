#include "harness/gpu/program/pipeline.h"

#include "harness/gpu/program/specialization.h"
#include "harness/gpu/spirv/spirv_cleared.h"

#include <fmt/format.h>

#include <chrono>

namespace assay::gpu {
namespace {

Handle<VkDescriptorSetLayout> create_set_layout(const DeviceTable& table, const Dispatch& dispatch,
                                                std::span<const VkDescriptorType> types) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = types[i],
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                        .pImmutableSamplers = nullptr});
  }
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = static_cast<std::uint32_t>(bindings.size());
  info.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  check(table.vk.vkCreateDescriptorSetLayout(table.device, &info, nullptr, &layout),
        fmt::format("creating the descriptor layout of dispatch '{}'", dispatch.label));
  return {table, layout, table.vk.vkDestroyDescriptorSetLayout};
}

Handle<VkPipelineLayout> create_layout(const DeviceTable& table, const Dispatch& dispatch,
                                       VkDescriptorSetLayout set_layout) {
  const VkPushConstantRange range{
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
      .offset = 0,
      .size = static_cast<std::uint32_t>(dispatch.push.words().size() * sizeof(std::uint32_t))};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &set_layout;
  info.pushConstantRangeCount = range.size > 0 ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(table.vk.vkCreatePipelineLayout(table.device, &info, nullptr, &layout),
        fmt::format("creating the pipeline layout of dispatch '{}'", dispatch.label));
  return {table, layout, table.vk.vkDestroyPipelineLayout};
}

Handle<VkShaderModule> create_module(const Device::State& device, const Dispatch& dispatch,
                                     const Spirv& spirv) {
  const DeviceTable& table = device.table;
  const std::vector<std::uint32_t> words =
      device.clears_workgroup_memory ? with_cleared_workgroup_memory(spirv.words) : spirv.words;
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = words.size() * sizeof(std::uint32_t);
  info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(table.vk.vkCreateShaderModule(table.device, &info, nullptr, &module),
        fmt::format("creating the shader module of '{}'", dispatch.shader));
  return {table, module, table.vk.vkDestroyShaderModule};
}

/// Values of specialization constants in Vulkan's layout.
struct SpecializationData {
  explicit SpecializationData(const std::map<std::uint32_t, std::uint32_t>& by_id) {
    for (const auto& [id, value] : by_id) {
      entries.push_back({.constantID = id,
                         .offset = static_cast<std::uint32_t>(values.size() * sizeof(value)),
                         .size = sizeof(value)});
      values.push_back(value);
    }
  }

  VkSpecializationInfo info() const {
    return {.mapEntryCount = static_cast<std::uint32_t>(entries.size()),
            .pMapEntries = entries.data(),
            .dataSize = values.size() * sizeof(std::uint32_t),
            .pData = values.data()};
  }

  std::vector<VkSpecializationMapEntry> entries;
  std::vector<std::uint32_t> values;
};

}  // namespace

VkDescriptorType descriptor_type(Form form, Binding::Access access) {
  if (access == Binding::Access::Sampled) return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  return is_texture(form) ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

Handle<VkPipeline> create_handle(const Device::State& device, const Dispatch& dispatch,
                                 const Pipeline& pipeline, VkPipelineCreateFlags flags) {
  const DeviceTable& table = device.table;
  const SpecializationData constants(pipeline.constants);
  const VkSpecializationInfo specialization_info = constants.info();
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = flags;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = pipeline.module.get();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization_info;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup_size{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr,
      dispatch.subgroup_size};
  if (dispatch.subgroup_size != 0) {
    info.stage.pNext = &subgroup_size;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  info.layout = pipeline.layout.get();
  VkPipeline handle = VK_NULL_HANDLE;
  check_compiled(table.vk.vkCreateComputePipelines(table.device, device.pipeline_cache.get(), 1, &info,
                                                   nullptr, &handle),
                 fmt::format("creating the pipeline of dispatch '{}' ({}) on '{}'", dispatch.label,
                             dispatch.shader, device.info().name));
  return {table, handle, table.vk.vkDestroyPipeline};
}

Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard) {
  const auto start = std::chrono::steady_clock::now();
  const DeviceTable& table = device.table;
  Pipeline pipeline;
  pipeline.bindings = std::move(bindings);
  pipeline.constants = specialization(dispatch, spirv.words, guard, spirv.is_foreign);
  pipeline.spirv_hash = spirv.hash;
  pipeline.set_layout = create_set_layout(table, dispatch, pipeline.bindings);
  pipeline.layout = create_layout(table, dispatch, pipeline.set_layout.get());
  pipeline.module = create_module(device, dispatch, spirv);
  pipeline.handle = create_handle(device, dispatch, pipeline, /*flags=*/0);
  device.name(VK_OBJECT_TYPE_PIPELINE, object_id(pipeline.handle.get()), dispatch.label);
  pipeline.creation_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return pipeline;
}

}  // namespace assay::gpu
