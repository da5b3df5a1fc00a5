#include "harness/gpu/bindings.h"

#include <algorithm>

namespace assay::gpu {

Bindings::Bindings(const DeviceTable& table, const Program& program, std::span<const Pipeline> pipelines,
                   const Workspace::State& workspace) {
  create_pool(table, program);
  allocate(table, pipelines);
  point(table, program, workspace);
}

void Bindings::create_pool(const DeviceTable& table, const Program& program) {
  std::uint32_t buffers = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    buffers += static_cast<std::uint32_t>(dispatch.bindings.size());
  }
  // Vulkan wants at least one of each, also for a program that binds nothing.
  const VkDescriptorPoolSize size{.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .descriptorCount = std::max(buffers, 1U)};
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = std::max(static_cast<std::uint32_t>(program.dispatches.size()), 1U);
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  check(table.vk.vkCreateDescriptorPool(table.device, &info, nullptr, &pool), "creating a descriptor pool");
  pool_ = {table, pool, table.vk.vkDestroyDescriptorPool};
}

void Bindings::allocate(const DeviceTable& table, std::span<const Pipeline> pipelines) {
  std::vector<VkDescriptorSetLayout> layouts;
  for (const Pipeline& pipeline : pipelines) {
    layouts.push_back(pipeline.set_layout.get());
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

void Bindings::point(const DeviceTable& table, const Program& program, const Workspace::State& workspace) {
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    std::vector<VkDescriptorBufferInfo> buffers;
    for (const Resource& resource : program.dispatches[i].bindings) {
      buffers.push_back(workspace.descriptor_of(resource));
    }
    if (buffers.empty()) {
      continue;
    }
    // One write fills consecutive bindings of the same type.
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = sets_[i];
    write.descriptorCount = static_cast<std::uint32_t>(buffers.size());
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers.data();
    table.vk.vkUpdateDescriptorSets(table.device, 1, &write, 0, nullptr);
  }
}

const Bindings& BindingsCache::get(const DeviceTable& table, const Program& program,
                                   std::span<const Pipeline> pipelines, const Workspace::State& workspace) {
  const auto found = by_workspace_.find(workspace.id);
  if (found != by_workspace_.end()) {
    return found->second;
  }
  if (by_workspace_.size() >= most) {
    by_workspace_.clear();  // safe: every submission was waited for
  }
  return by_workspace_.try_emplace(workspace.id, table, program, pipelines, workspace).first->second;
}

}  // namespace assay::gpu
