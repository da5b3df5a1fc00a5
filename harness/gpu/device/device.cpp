#include "harness/gpu/device/device.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <ostream>
#include <system_error>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t cache_hash_length = 32;

struct CacheHeader {
  std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'P', 'L', 'C'};
  std::uint32_t format = 1;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;
  std::array<char, cache_hash_length> identity{};
  std::array<char, cache_hash_length> hash{};
};
static_assert(sizeof(CacheHeader) == 88, "the header is written as it lies in memory");

CacheHeader header_of(const std::string& identity_hash, std::span<const std::byte> data) {
  CacheHeader header{.bytes = data.size()};
  std::memcpy(header.identity.data(), identity_hash.data(), cache_hash_length);
  std::memcpy(header.hash.data(), hash_hex(data).data(), cache_hash_length);
  return header;
}

/// Whether a phase is reported as a whole, without phases inside it.
bool is_whole(Phase phase) {
  return phase == Phase::Timing || phase == Phase::Ceilings;
}

/// Limit for addresses and for vendor entries; the first few suffice.
constexpr std::uint32_t most_entries = 8;

std::string_view name_of(VkDeviceFaultAddressTypeEXT type) {
  switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
      return "invalid read";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
      return "invalid write";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
      return "invalid execution";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
      return "instruction pointer";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
      return "invalid instruction pointer";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
      return "instruction pointer fault";
    default:
      return "access";
  }
}

/// The driver's text in an array of fixed size, which need not be null-terminated.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return printable(std::string(text, std::find(text, text + N, '\0')));
}

}  // namespace

DriverCacheFile::DriverCacheFile(const fs::path& directory, const std::string& identity, std::uint64_t most)
    : file_(directory / (hash_hex(identity) + ".pipelines")),
      identity_hash_(hash_hex(identity)),
      most_(most) {}

std::optional<std::vector<std::byte>> DriverCacheFile::load() const {
  const std::optional<std::string> bytes = whole_regular_file(file_, sizeof(CacheHeader) + most_);
  if (!bytes || bytes->size() <= sizeof(CacheHeader)) {
    return std::nullopt;
  }
  const auto data = std::as_bytes(std::span(*bytes)).subspan(sizeof(CacheHeader));
  const CacheHeader expected = header_of(identity_hash_, data);
  if (std::memcmp(bytes->data(), &expected, sizeof expected) != 0) {
    return std::nullopt;
  }
  return std::vector(data.begin(), data.end());
}

void DriverCacheFile::store(std::span<const std::byte> data) const try {
  if (data.size() > most_) {
    fs::remove(file_);
    return;
  }
  fs::create_directories(file_.parent_path());
  const CacheHeader header = header_of(identity_hash_, data);
  replace_file(file_, [&](std::ostream& stream) {
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  });
} catch (const std::exception&) {
  // Ignored: pipelines are then compiled again.
}

Device::State::State(Instance::State& owner, const PhysicalDevice& description)
    : instance(owner), physical(description), trusted(description.info) {
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
  FeatureChain features(physical.facts, instance.robust_access);
  if (!physical.info.as_if.empty()) features.keep_only(physical.info.features);
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
  workgroup_poisoner.reset();
  pipelines.reset();
  staging.reset();
  memory_pool.reset();
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

void Device::State::check_alive(VkResult result, std::string_view doing) {
  if (result != VK_ERROR_DEVICE_LOST) return check(result, doing);
  table.lost = true;
  check(result, std::string(doing) + fault_text(*this));
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

bool Device::poisons_variables() const {
  return info().is_cpu();
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
    : device_(device), before_(device.phase), phase_(phase), limit_s_(limit_s) {
  again();
}

void PhaseScope::again() const {
  if (is_whole(before_)) return;
  device_.phase = phase_;
  if (device_.phase_listener) device_.phase_listener(phase_, limit_s_);
}

PhaseScope::~PhaseScope() {
  if (is_whole(before_)) return;
  device_.phase = before_;
  if (device_.phase_listener) device_.phase_listener(before_, 0);
}

bool Device::has_timestamps() const {
  return state_->has_timestamps();
}

void Device::distrust_timestamps() {
  state_->timestamps_distrusted = true;
}

void Device::distrust_matrices(const CooperativeShape& shape, std::string why) {
  DeviceInfo& info = state_->trusted;
  std::erase(info.cooperative_shapes, shape);
  if (std::ranges::find(info.wrong_matrices, why) == info.wrong_matrices.end()) {
    info.wrong_matrices.push_back(std::move(why));
  }
}

std::string to_string(const Fault& fault) {
  std::vector<std::string> parts;
  if (!fault.description.empty()) parts.push_back(fault.description);
  for (const Fault::Address& at : fault.addresses) {
    std::string text = fmt::format("{} at {:#x}", name_of(at.type), at.address);
    if (at.precision > 1) text += fmt::format(", within {} bytes", at.precision);
    parts.push_back(std::move(text));
  }
  parts.insert(parts.end(), fault.vendor.begin(), fault.vendor.end());
  return parts.empty() ? "" : fmt::format(" (the driver says: {})", fmt::join(parts, "; "));
}

std::string fault_text(const Device::State& device) {
  if (!device.tells_faults || device.table.vk.vkGetDeviceFaultInfoEXT == nullptr) return {};
  std::array<VkDeviceFaultAddressInfoEXT, most_entries> addresses{};
  std::array<VkDeviceFaultVendorInfoEXT, most_entries> vendor{};
  VkDeviceFaultCountsEXT counts{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
  counts.addressInfoCount = most_entries;
  counts.vendorInfoCount = most_entries;
  VkDeviceFaultInfoEXT info{VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
  info.pAddressInfos = addresses.data();
  info.pVendorInfos = vendor.data();
  if (device.table.vk.vkGetDeviceFaultInfoEXT(device.table.device, &counts, &info) < 0) return {};
  Fault fault{.description = text_of(info.description)};
  for (std::uint32_t i = 0; i < std::min(counts.addressInfoCount, most_entries); ++i) {
    const VkDeviceFaultAddressInfoEXT& at = addresses.at(i);
    if (at.addressType == VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT) continue;
    fault.addresses.push_back({at.addressType, at.reportedAddress, at.addressPrecision});
  }
  for (std::uint32_t i = 0; i < std::min(counts.vendorInfoCount, most_entries); ++i) {
    const VkDeviceFaultVendorInfoEXT& said = vendor.at(i);
    fault.vendor.push_back(fmt::format("{} ({:#x}, {:#x})", text_of(said.description), said.vendorFaultCode,
                                       said.vendorFaultData));
  }
  return to_string(fault);
}

}  // namespace assay::gpu
