#include "harness/gpu/commands/barrier.h"

#include <utility>

namespace assay::gpu {
namespace {

struct Reach {
  VkPipelineStageFlags stages = 0;
  VkAccessFlags writes = 0;
  VkAccessFlags accesses = 0;
};

constexpr Reach join(Reach a, Reach b) {
  return {a.stages | b.stages, a.writes | b.writes, a.accesses | b.accesses};
}

Reach reach_of(Scope scope) {
  constexpr Reach compute{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  constexpr Reach transfer{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                           VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
  constexpr Reach host{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT,
                       VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT};
  switch (scope) {
    case Scope::Compute:
      return compute;
    case Scope::Transfer:
      return transfer;
    case Scope::Host:
      return host;
    case Scope::TransferAndHost:
      return join(transfer, host);
    case Scope::Anything:
      return join(compute, join(transfer, host));
  }
  return {};
}

}  // namespace

void barrier(const DeviceTable& table, VkCommandBuffer commands, Scope before, Scope after) {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = reach_of(before).writes;
  memory.dstAccessMask = reach_of(after).accesses;
  table.vk.vkCmdPipelineBarrier(commands, reach_of(before).stages, reach_of(after).stages, 0, 1, &memory, 0,
                                nullptr, 0, nullptr);
}

}  // namespace assay::gpu
