#include "harness/gpu/program/bindings.h"

#include "harness/gpu/commands/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay::gpu {

UniformBuffers::UniformBuffers(Device::State& device, std::span<const std::vector<UniformBlock>> blocks) {
  for (const std::vector<UniformBlock>& of_dispatch : blocks) {
    std::vector<Descriptor>& descriptors = descriptors_.emplace_back();
    for (const UniformBlock& block : of_dispatch) {
      Buffer buffer = create_buffer(device, "a uniform block", block.bytes.size(), BufferUse::Uniform);
      const VkMemoryRequirements needs = requirements(device, buffer);
      auto memory = std::make_unique<MemoryBlock>(
          device, needs.size, uniform_memory_type(device.physical.memory, needs.memoryTypeBits),
          "a uniform block");
      bind(device, buffer, *memory, 0);
      std::ranges::copy(block.bytes, memory->mapped());
      memory->flush(0, block.bytes.size());  // a submission makes what the host wrote visible
      descriptors.push_back({.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                             .buffer = {.buffer = buffer.handle.get(), .offset = 0, .range = VK_WHOLE_SIZE}});
      owned_.push_back({std::move(buffer), std::move(memory)});
    }
  }
}

std::span<const Descriptor> UniformBuffers::of(std::size_t dispatch) const {
  if (dispatch >= descriptors_.size()) return {};
  return descriptors_[dispatch];
}

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

bool belongs(DispatchRole role, Part part) {
  switch (part) {
    case Part::All:
      return true;
    case Part::Setup:
      return role == DispatchRole::Setup;
    case Part::Timed:
      return role != DispatchRole::Setup;
  }
  return false;
}

void Recordable::record(VkCommandBuffer commands, const Bindings& bindings, Part part,
                        const std::function<void()>& after_each) const {
  bool first = true;
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    if (!belongs(program.dispatches[i].role, part)) {
      continue;
    }
    if (!first && !after_each) {
      barrier(table, commands, Scope::Compute, Scope::Compute);
    }
    first = false;
    record_dispatch(commands, bindings, i);
    if (after_each) {
      barrier(table, commands, Scope::Compute, Scope::Compute);
      after_each();
    }
  }
}

void Recordable::record_dispatch(VkCommandBuffer commands, const Bindings& bindings,
                                 std::size_t index) const {
  const Dispatch& dispatch = program.dispatches[index];
  const Pipeline& pipeline = *pipelines[index];
  const VkDescriptorSet set = bindings.set(index);
  table.vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle.get());
  table.vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout.get(), 0, 1,
                                   &set, 0, nullptr);
  const std::vector<std::uint32_t>& push = dispatch.push.words();
  if (!push.empty()) {
    table.vk.vkCmdPushConstants(commands, pipeline.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                static_cast<std::uint32_t>(push.size() * sizeof(std::uint32_t)), push.data());
  }
  table.vk.vkCmdDispatch(commands, dispatch.workgroups[0], dispatch.workgroups[1], dispatch.workgroups[2]);
}

}  // namespace assay::gpu
