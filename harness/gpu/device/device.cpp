#include "harness/gpu/device/device.h"

#include <fmt/format.h>

namespace assay::gpu {
namespace {

/// Whether a phase is reported as a whole, without phases inside it.
bool is_whole(Phase phase) {
  return phase == Phase::Timing || phase == Phase::Ceilings;
}

}  // namespace

Device::State::State(Instance::State& owner, const PhysicalDevice& description)
    : instance(owner), physical(description) {
  open();
  try {
    create_pipeline_cache({});
    create_commands();
  } catch (...) {
    fence.reset();
    command_pool.reset();
    pipeline_cache.reset();
    table.vk.vkDestroyDevice(table.device, nullptr);
    throw;
  }
}

void Device::State::open() {
  const FeatureChain features(physical.facts, instance.robust_access);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue_info.queueFamilyIndex = physical.queue_family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  device_info.pNext = features.chain();
  device_info.queueCreateInfoCount = 1;
  device_info.pQueueCreateInfos = &queue_info;
  device_info.enabledExtensionCount = static_cast<std::uint32_t>(features.extensions().size());
  device_info.ppEnabledExtensionNames = features.extensions().data();
  check(vkCreateDevice(physical.facts.handle, &device_info, nullptr, &table.device),
        fmt::format("opening device '{}'", info().name));
  volkLoadDeviceTable(&table.vk, table.device);
  tells_statistics = features.tells_statistics();
  tells_faults = features.tells_faults();
  clears_workgroup_memory = features.clears_workgroup_memory();
  table.vk.vkGetDeviceQueue(table.device, physical.queue_family, 0, &queue);
}

void Device::State::create_pipeline_cache(std::span<const std::byte> data) {
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  check(table.vk.vkCreatePipelineCache(table.device, &info, nullptr, &cache), "creating the pipeline cache");
  pipeline_cache = {table, cache, table.vk.vkDestroyPipelineCache};
}

/// Loads pipeline data; a driver that rejects them compiles again.
void Device::State::take_pipeline_data(std::span<const std::byte> data) try {
  create_pipeline_cache(data);
} catch (const Error&) {
  // The empty cache stays in use.
}

/// Empty when the driver cannot return its data; pipelines are then compiled again in the next run.
std::vector<std::byte> Device::State::pipeline_data() const {
  std::size_t bytes = 0;
  if (table.vk.vkGetPipelineCacheData(table.device, pipeline_cache.get(), &bytes, nullptr) != VK_SUCCESS) {
    return {};
  }
  std::vector<std::byte> data(bytes);
  // Another thread may compile meanwhile and make the data larger; they are saved next time.
  if (table.vk.vkGetPipelineCacheData(table.device, pipeline_cache.get(), &bytes, data.data()) < 0) {
    return {};
  }
  data.resize(bytes);
  return data;
}

void Device::State::create_commands() {
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = physical.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(table.vk.vkCreateCommandPool(table.device, &pool_info, nullptr, &pool), "creating the command pool");
  command_pool = {table, pool, table.vk.vkDestroyCommandPool};

  VkCommandBufferAllocateInfo buffer_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  buffer_info.commandPool = pool;
  buffer_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffer_info.commandBufferCount = 1;
  check(table.vk.vkAllocateCommandBuffers(table.device, &buffer_info, &commands),
        "allocating the command buffer");

  VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence created = VK_NULL_HANDLE;
  check(table.vk.vkCreateFence(table.device, &fence_info, nullptr, &created), "creating the fence");
  fence = {table, created, table.vk.vkDestroyFence};
}

Device::State::~State() {
  if (table.abandoned) {
    return;  // leaked on purpose, see DeviceTable
  }
  pipelines.reset();
  staging.reset();
  sampler.reset();
  fence.reset();
  command_pool.reset();
  pipeline_cache.reset();
  table.vk.vkDestroyDevice(table.device, nullptr);
}

void Device::State::require_alive(std::string_view doing) const {
  if (table.lost) {
    throw DeviceLost(fmt::format(
        "{}: device '{}' was lost or hung before; start a new process to use it again", doing, info().name));
  }
}

void Device::State::name(VkObjectType type, std::uint64_t object, const std::string& name) const {
  if (instance.set_name == nullptr) {
    return;
  }
  VkDebugUtilsObjectNameInfoEXT name_info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  name_info.objectType = type;
  name_info.objectHandle = object;
  name_info.pObjectName = name.c_str();
  check(instance.set_name(table.device, &name_info), "naming an object");
}

Device::Device(Instance& instance, std::size_t index) {
  Instance::State& owner = instance.state();
  if (index >= owner.physical.size()) {
    throw Error(
        fmt::format("opening device {}: there are {} devices, counted from 0", index, owner.physical.size()));
  }
  state_ = std::make_unique<State>(owner, owner.physical[index]);
}

Device::~Device() = default;

const DeviceInfo& Device::info() const {
  return state_->info();
}

bool Device::alive() const {
  return !state_->table.lost;
}

void Device::keep_pipelines_in(const std::filesystem::path& directory) {
  if (directory.empty() || state_->pipeline_file) {
    return;
  }
  state_->pipeline_file.emplace(directory, state_->physical.cache_identity);
  if (const auto data = state_->pipeline_file->load()) {
    state_->take_pipeline_data(*data);
  }
  state_->kept_bytes = state_->pipeline_data().size();
}

void Device::save_pipelines() {
  if (!state_->pipeline_file || !alive()) {
    return;
  }
  const std::vector<std::byte> data = state_->pipeline_data();
  if (data.size() <= state_->kept_bytes) {
    return;
  }
  state_->kept_bytes = data.size();
  state_->pipeline_file->store(data);
}

void Device::watch_phases(PhaseListener listener) {
  state_->phase_listener = std::move(listener);
}

void Device::tell_phase(Phase phase, double limit_s) {
  state_->phase = phase;
  if (state_->phase_listener) state_->phase_listener(phase, limit_s);
}

PhaseScope::PhaseScope(Device::State& device, Phase phase, double limit_s)
    : device_(device), before_(device.phase) {
  if (is_whole(before_)) return;
  device_.phase = phase;
  if (device_.phase_listener) device_.phase_listener(phase, limit_s);
}

PhaseScope::~PhaseScope() {
  if (is_whole(before_)) return;
  device_.phase = before_;
  if (device_.phase_listener) device_.phase_listener(before_, 0);
}

void Device::distrust_timestamps() {
  state_->timestamps_distrusted = true;
}

}  // namespace assay::gpu
