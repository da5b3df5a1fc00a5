#include "harness/gpu/program/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay::gpu {

Bindings::Bindings(const DeviceTable& table, const Program& program,
                   std::span<const SharedPipeline> pipelines, const Workspace::State& workspace,
                   const UniformBuffers& uniforms) {
  create_pool(table, pipelines);
  allocate(table, pipelines);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    std::vector<Descriptor> descriptors;
    for (const Binding& binding : program.dispatches[i].bindings) {
      descriptors.push_back(workspace.descriptor_of(binding));
    }
    const std::span<const Descriptor> more = uniforms.of(i);
    descriptors.insert(descriptors.end(), more.begin(), more.end());
    point(table, program.dispatches[i], *pipelines[i], sets_[i], descriptors);
  }
}

Bindings::Bindings(const DeviceTable& table, const Program& program,
                   std::span<const SharedPipeline> pipelines, std::span<const Descriptor> descriptors) {
  create_pool(table, pipelines);
  allocate(table, pipelines);
  point(table, program.dispatches.front(), *pipelines.front(), sets_.front(), descriptors);
}

void Bindings::create_pool(const DeviceTable& table, std::span<const SharedPipeline> pipelines) {
  std::map<VkDescriptorType, std::uint32_t> counts;
  for (const SharedPipeline& pipeline : pipelines) {
    for (const VkDescriptorType type : pipeline->bindings) {
      ++counts[type];
    }
  }
  if (counts.empty()) {
    counts[VK_DESCRIPTOR_TYPE_STORAGE_BUFFER] = 1;  // Vulkan requires at least one, even if nothing is bound
  }
  std::vector<VkDescriptorPoolSize> sizes;
  for (const auto& [type, count] : counts) {
    sizes.push_back({.type = type, .descriptorCount = count});
  }
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = std::max(static_cast<std::uint32_t>(pipelines.size()), 1U);
  info.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  check(table.vk.vkCreateDescriptorPool(table.device, &info, nullptr, &pool), "creating a descriptor pool");
  pool_ = {table, pool, table.vk.vkDestroyDescriptorPool};
}

void Bindings::allocate(const DeviceTable& table, std::span<const SharedPipeline> pipelines) {
  std::vector<VkDescriptorSetLayout> layouts;
  for (const SharedPipeline& pipeline : pipelines) {
    layouts.push_back(pipeline->set_layout.get());
  }
  sets_.resize(layouts.size());
  if (layouts.empty()) {
    return;
  }
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool_.get();
  info.descriptorSetCount = static_cast<std::uint32_t>(layouts.size());
  info.pSetLayouts = layouts.data();
  check(table.vk.vkAllocateDescriptorSets(table.device, &info, sets_.data()), "allocating descriptor sets");
}

void Bindings::point(const DeviceTable& table, const Dispatch& dispatch, const Pipeline& pipeline,
                     VkDescriptorSet set, std::span<const Descriptor> descriptors) const {
  std::vector<VkWriteDescriptorSet> writes;
  for (std::uint32_t i = 0; i < descriptors.size(); ++i) {
    if (descriptors[i].type != pipeline.bindings[i]) {
      throw std::logic_error(
          fmt::format("binding {} of dispatch '{}' is a buffer in the workspace and an image in the program, "
                      "or the reverse: both must be made for the same forms",
                      i, dispatch.label));
    }
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = descriptors[i].type;
    write.pBufferInfo = &descriptors[i].buffer;
    write.pImageInfo = &descriptors[i].image;
    writes.push_back(write);
  }
  table.vk.vkUpdateDescriptorSets(table.device, static_cast<std::uint32_t>(writes.size()), writes.data(), 0,
                                  nullptr);
}

std::vector<const Bindings*> BindingsCache::get(const DeviceTable& table, const Program& program,
                                                std::span<const SharedPipeline> pipelines,
                                                const UniformBuffers& uniforms,
                                                std::span<const Workspace::State* const> workspaces) {
  const auto is_new = [&](const Workspace::State* workspace) {
    return !by_workspace_.contains(workspace->id);
  };
  const auto news = static_cast<std::size_t>(std::count_if(workspaces.begin(), workspaces.end(), is_new));
  if (news > 0 && by_workspace_.size() + news > most) {
    by_workspace_.clear();  // safe: every submission has finished
  }
  std::vector<const Bindings*> found;
  for (const Workspace::State* workspace : workspaces) {
    found.push_back(&by_workspace_.try_emplace(workspace->id, table, program, pipelines, *workspace, uniforms)
                         .first->second);
  }
  return found;
}

}  // namespace assay::gpu
