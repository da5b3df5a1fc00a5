#include "harness/gpu/commands/timer.h"

namespace assay::gpu {
double ticks_to_ns(std::uint64_t begin, std::uint64_t end, std::uint32_t valid_bits, double period_ns) {
  const std::uint64_t mask = valid_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits) - 1;
  // Modulo 2^valid_bits the difference is right even if the counter wrapped in between.
  return static_cast<double>((end - begin) & mask) * period_ns;
}

Stamps::Stamps(Device::State& device, std::uint32_t count) : device_(device), count_(count) {
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = count;
  VkQueryPool pool = VK_NULL_HANDLE;
  check(device.table.vk.vkCreateQueryPool(device.table.device, &info, nullptr, &pool),
        "creating the timestamp queries");
  pool_ = {device.table, pool, device.table.vk.vkDestroyQueryPool};
}

void Stamps::reset(VkCommandBuffer commands) const {
  device_.table.vk.vkCmdResetQueryPool(commands, pool_.get(), 0, count_);
}

void Stamps::stamp(VkCommandBuffer commands) {
  device_.table.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_.get(), next_++);
}

std::vector<std::uint64_t> Stamps::ticks() const {
  std::vector<std::uint64_t> ticks(count_);
  check(device_.table.vk.vkGetQueryPoolResults(
            device_.table.device, pool_.get(), 0, count_, ticks.size() * sizeof(ticks[0]), ticks.data(),
            sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "reading the timestamps");
  return ticks;
}

std::vector<double> Stamps::steps_ns() const {
  const std::vector<std::uint64_t> all = ticks();
  const DeviceInfo& info = device_.info();
  std::vector<double> steps;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    steps.push_back(ticks_to_ns(all[i], all[i + 1], info.timestamp_valid_bits, info.timestamp_period_ns));
  }
  return steps;
}

}  // namespace assay::gpu
