#include "harness/gpu/commands/submission.h"

#include "harness/gpu/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unistd.h>
#include <utility>

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
  device_.check_alive(device_.table.vk.vkGetQueryPoolResults(
                          device_.table.device, pool_.get(), 0, count_, ticks.size() * sizeof(ticks[0]),
                          ticks.data(), sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                      fmt::format("reading the timestamps of '{}'", device_.info().name));
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

/// The wait after a timeout is ten times as long as the timeout, within these limits.
constexpr double least_longer_s = 5;
constexpr double most_longer_s = 30;

/// The wait after a timeout, in seconds.
double longer_s(double timeout_s) {
  return std::clamp(10 * timeout_s, least_longer_s, most_longer_s);
}

/// After the timeout and this wait even a driver that ignores timeouts counts as hanging.
double longest_s(double timeout_s) {
  constexpr double slack_s = 10;
  return timeout_s + longer_s(timeout_s) + slack_s;
}

/// The parts of a wait: a second each at most, and some of a short wait.
int parts_of(double seconds) {
  constexpr double least = 4;
  return static_cast<int>(std::max(least, std::ceil(seconds)));
}

std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

void barrier(const DeviceTable& table, VkCommandBuffer commands, Scope before, Scope after) {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = reach_of(before).writes;
  memory.dstAccessMask = reach_of(after).accesses;
  table.vk.vkCmdPipelineBarrier(commands, reach_of(before).stages, reach_of(after).stages, 0, 1, &memory, 0,
                                nullptr, 0, nullptr);
}

void leave_at_once_on_exit() {
#ifdef __GLIBC__
  // Handlers run in reverse order of registration, so this one runs before all earlier ones.
  static const int registered = ::on_exit(
      [](int status, void*) {
        std::cout.flush();
        std::clog.flush();
        std::fflush(nullptr);
        ::_exit(status);
      },
      nullptr);
  static_cast<void>(registered);
#endif
}

Submission::Submission(Device::State& device, std::string doing, std::string_view label, Use use)
    : device_(device), doing_(std::move(doing)), commands_(device.commands) {
  device_.require_alive(doing_);
  begin(use);
  if (!label.empty() && device_.instance.begin_label != nullptr) {
    const std::string text(label);
    VkDebugUtilsLabelEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
    info.pLabelName = text.c_str();
    device_.instance.begin_label(commands_, &info);
    labelled_ = true;
  }
}

Submission::~Submission() {
  if (owned_ && !device_.table.abandoned) {
    device_.table.vk.vkFreeCommandBuffers(device_.table.device, device_.command_pool.get(), 1, &commands_);
  }
}

void Submission::begin(Use use) {
  const VolkDeviceTable& vk = device_.table.vk;
  if (use == Use::Repeated) {
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = device_.command_pool.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    check_alive(vk.vkAllocateCommandBuffers(device_.table.device, &info, &commands_),
                "allocating a command buffer");
    owned_ = true;
  } else {
    // An exception may have left it partly recorded.
    check_alive(vk.vkResetCommandBuffer(commands_, 0), "resetting the command buffer");
  }
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = use == Use::Once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0;
  check_alive(vk.vkBeginCommandBuffer(commands_, &begin), "beginning the command buffer");
}

void Submission::end() {
  if (labelled_) {
    device_.instance.end_label(commands_);
  }
  check_alive(device_.table.vk.vkEndCommandBuffer(commands_), "ending the command buffer");
  ended_ = true;
}

double Submission::submit_and_wait(double timeout_s) {
  const VolkDeviceTable& vk = device_.table.vk;
  device_.require_alive(doing_);
  if (!ended_) {
    end();
  }
  const PhaseScope phase(device_, Phase::Dispatch, longest_s(timeout_s));
  const VkFence fence = device_.fence.get();
  check_alive(vk.vkResetFences(device_.table.device, 1, &fence), "resetting the fence");
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands_;
  const auto start = std::chrono::steady_clock::now();
  check_alive(vk.vkQueueSubmit(device_.queue, 1, &info, fence), "submitting");
  wait(timeout_s);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Waits in parts: a machine that is suspended, or a clock that jumps, ends one of them and not the whole.
VkResult Submission::wait_for_fence(double seconds) {
  const VkFence fence = device_.fence.get();
  const int parts = parts_of(seconds);
  VkResult result = VK_TIMEOUT;
  for (int part = 0; result == VK_TIMEOUT && part < parts; ++part) {
    result = device_.table.vk.vkWaitForFences(device_.table.device, 1, &fence, VK_TRUE,
                                              nanoseconds(seconds / parts));
  }
  return result;
}

void Submission::wait(double timeout_s) {
  const Stopwatch watch;
  const VkResult result = wait_for_fence(timeout_s);
  if (result == VK_TIMEOUT) {
    wait_longer(timeout_s, watch);
  }
  check_waited(result, "waiting for the GPU");
}

/// The submission may be slow instead of hung: then the device stays usable and only this submission has
/// failed.
void Submission::wait_longer(double timeout_s, const Stopwatch& watch) {
  const double longer = longer_s(timeout_s);
  const VkResult result = wait_for_fence(longer);
  if (result == VK_TIMEOUT) {
    give_up(timeout_s, longer);
  }
  check_waited(result, "waiting for the GPU beyond the timeout");
  throw Timeout(fmt::format("{} on '{}': the GPU did not finish within {:g} s, only after {:.3g} s", doing_,
                            device_.info().name, timeout_s, watch.s()));
}

/// What failed may be the wait alone: then the GPU still uses everything. A lost device uses nothing.
void Submission::check_waited(VkResult result, std::string_view step) {
  if (result < 0 && result != VK_ERROR_DEVICE_LOST) {
    abandon();
    // No OutOfMemory: nothing can use this device any more.
    throw DeviceLost(
        fmt::format("{} on '{}': {}: {}", doing_, device_.info().name, step, result_name(result)));
  }
  check_alive(result, step);
}

void Submission::abandon() {
  device_.table.lost = true;
  device_.table.abandoned = true;
  device_.instance.abandoned = true;
  leave_at_once_on_exit();
}

void Submission::give_up(double timeout_s, double longer_s) {
  abandon();
  throw Timeout(fmt::format(
      "{} on '{}': the GPU did not finish within {:g} s, nor in the {:g} s after that; the kernel may "
      "loop forever, or the timeout is too short",
      doing_, device_.info().name, timeout_s, longer_s));
}

void Submission::check_alive(VkResult result, std::string_view step) {
  if (result >= 0) {
    return;
  }
  device_.check_alive(result, fmt::format("{} on '{}': {}", doing_, device_.info().name, step));
}

}  // namespace assay::gpu
