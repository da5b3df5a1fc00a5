#include "harness/gpu/program/recording.h"

#include "harness/gpu/commands/barrier.h"

namespace assay::gpu {

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
