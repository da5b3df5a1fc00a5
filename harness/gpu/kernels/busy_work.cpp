#include "harness/gpu/kernels/busy_work.h"

namespace assay::gpu {
namespace {

/// Clock probes in a submission: about 1 ms, which is how long stop() waits.
constexpr std::uint32_t probes_at_once = 12;
constexpr std::uint64_t look_ns = 100'000'000;  // between two looks at whether the device was given up

}  // namespace

BusyWork::State::State(Device& device, ShaderLibrary& shaders, std::uint32_t rounds)
    : device_(device.state()), kernel_(device, shaders) {
  create_commands();
  record(rounds);
  thread_ = std::thread([this] { work(); });
}

BusyWork::State::~State() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wanted_ = false;
  }
  changed_.notify_all();
  thread_.join();
}

void BusyWork::State::create_commands() {
  const DeviceTable& table = device_.table;
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = device_.physical.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(table.vk.vkCreateCommandPool(table.device, &pool_info, nullptr, &pool),
        "creating the command pool of the second queue");
  pool_ = {table, pool, table.vk.vkDestroyCommandPool};
  VkCommandBufferAllocateInfo buffer_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  buffer_info.commandPool = pool;
  buffer_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffer_info.commandBufferCount = 1;
  check(table.vk.vkAllocateCommandBuffers(table.device, &buffer_info, &commands_),
        "allocating the command buffer of the second queue");
  VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  check(table.vk.vkCreateFence(table.device, &fence_info, nullptr, &fence),
        "creating the fence of the second queue");
  fence_ = {table, fence, table.vk.vkDestroyFence};
}

void BusyWork::State::record(std::uint32_t rounds) {
  const VolkDeviceTable& vk = device_.table.vk;
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vk.vkBeginCommandBuffer(commands_, &begin), "beginning the command buffer of the second queue");
  kernel_.record(commands_, rounds);
  check(vk.vkEndCommandBuffer(commands_), "ending the command buffer of the second queue");
}

void BusyWork::State::start() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_all();
}

void BusyWork::State::stop() {
  std::unique_lock lock(mutex_);
  wanted_ = false;
  changed_.wait(lock, [this] { return !running_; });
}

void BusyWork::State::work() {
  std::unique_lock lock(mutex_);
  for (bool works = true; works && !closing_;) {
    changed_.wait(lock, [this] { return wanted_ || closing_; });
    while (works && wanted_) {
      running_ = true;
      lock.unlock();
      works = submit();
      lock.lock();
      running_ = false;
    }
    changed_.notify_all();
  }
}

bool BusyWork::State::submit() {
  const DeviceTable& table = device_.table;
  if (table.lost) return false;
  const VkFence fence = fence_.get();
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands_;
  if (table.vk.vkResetFences(table.device, 1, &fence) < 0) return false;
  if (table.vk.vkQueueSubmit(device_.second_queue, 1, &info, fence) < 0) return false;
  VkResult result = VK_TIMEOUT;
  while (result == VK_TIMEOUT && !table.abandoned)
    result = table.vk.vkWaitForFences(table.device, 1, &fence, VK_TRUE, look_ns);
  return result == VK_SUCCESS;
}

BusyWork::BusyWork(Device& device, ShaderLibrary& shaders, const ClockProbe& probe) {
  if (device.state().second_queue != VK_NULL_HANDLE)
    state_ = std::make_unique<State>(device, shaders, probes_at_once * probe.state().rounds);
}
BusyWork::~BusyWork() = default;

bool BusyWork::is_available() const {
  return state_ != nullptr;
}

void BusyWork::start() {
  if (state_) state_->start();
}

void BusyWork::stop() {
  if (state_) state_->stop();
}

}  // namespace assay::gpu
