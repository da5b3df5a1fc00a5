#include "harness/gpu/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay::gpu {

Bindings::Bindings(const DeviceTable& table, const Program& program, std::span<const Pipeline> pipelines,
                   const Workspace::State& workspace) {
  create_pool(table, pipelines);
  allocate(table, pipelines);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    point(table, program.dispatches[i], pipelines[i], sets_[i], workspace);
  }
}

void Bindings::create_pool(const DeviceTable& table, std::span<const Pipeline> pipelines) {
  std::map<VkDescriptorType, std::uint32_t> counts;
  for (const Pipeline& pipeline : pipelines) {
    for (const VkDescriptorType type : pipeline.bindings) {
      ++counts[type];
    }
  }
  if (counts.empty()) {
    counts[VK_DESCRIPTOR_TYPE_STORAGE_BUFFER] = 1;  // Vulkan wants one, also where nothing is bound
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

void Bindings::point(const DeviceTable& table, const Dispatch& dispatch, const Pipeline& pipeline,
                     VkDescriptorSet set, const Workspace::State& workspace) const {
  std::vector<Descriptor> descriptors;
  for (const Resource& resource : dispatch.bindings) {
    descriptors.push_back(workspace.descriptor_of(resource));
  }
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
