#pragma once

#include "harness/gpu/device/features.h"
#include "harness/gpu/device/vk.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// True for complaints of a validation layer about extensions and structures that are newer than itself
/// (Debian 12's layer about KHR cooperative matrices). This is no misuse: the harness uses them only where
/// the device supports them.
bool layer_is_too_old(std::string_view message);

/// The messages of the validation layer. Thread-safe, since layers may call from any thread.
class MessageLog {
 public:
  /// Counts a message; keeps the newest `kept` distinct texts.
  void add(std::string text);
  std::int64_t count() const;
  /// Distinct texts that came, or came again, after the first `after` messages; oldest first.
  std::vector<std::string> texts(std::int64_t after = 0) const;

  static constexpr std::size_t kept = 100;

 private:
  struct Message {
    std::string text;
    std::int64_t number = 0;  ///< the count when it came last
  };

  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::deque<Message> messages_;
};

/// A device of the loader's list, with everything needed to open it and to allocate on it.
struct PhysicalDevice {
  DeviceFacts facts;
  DeviceInfo info;
  std::string cache_identity;  ///< identifies the driver whose compiled pipelines the device accepts
  std::uint32_t queue_family = 0;
  VkPhysicalDeviceMemoryProperties memory{};
  std::uint64_t max_allocation_bytes = 0;  ///< maxMemoryAllocationSize
  std::uint64_t max_buffer_bytes = 0;      ///< maxBufferSize; ~0 where the device does not say
  std::uint32_t max_allocations = 0;       ///< maxMemoryAllocationCount
  std::uint64_t non_coherent_atom = 1;     ///< nonCoherentAtomSize
  std::uint64_t image_granularity = 1;     ///< bufferImageGranularity
};

/// Everything about `handle`, or nothing for a device below Vulkan 1.1 or without a compute queue.
std::optional<PhysicalDevice> describe(VkPhysicalDevice handle);

/// Describes those of the devices that can be used. Throws Error(NoDevice) with the messages of all drivers
/// that fail at that: without their devices another one would be measured, or one at another place.
std::vector<PhysicalDevice> describe_all(
    std::span<const VkPhysicalDevice> handles,
    const std::function<std::optional<PhysicalDevice>(VkPhysicalDevice)>& describe_one = describe);

struct SubgroupSizes {
  std::uint32_t least = 1, most = 1;
};

/// The sizes that the subgroups of a shader may have where the driver does not report them, as before Vulkan
/// 1.3 without VK_EXT_subgroup_size_control: one on most devices, but the compilers of some vendors choose
/// one for each shader.
SubgroupSizes unreported_subgroup_sizes(std::uint32_t vendor_id, std::uint32_t subgroup_size);

struct Instance::State {
  explicit State(const InstanceOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const bool robust_access;  ///< for all devices that are opened
  /// Outlives the instance, which may send messages while it is destroyed.
  std::unique_ptr<MessageLog> messages;
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  std::vector<PhysicalDevice> physical;
  std::vector<DeviceInfo> infos;
  /// Set by a device that hangs: destroying its instance would wait for it.
  bool abandoned = false;

  // Functions of VK_EXT_debug_utils, null when the loader does not have it. They are loaded from this
  // instance: volk's global pointers belong to the instance that was created last, which may not have the
  // extension.
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_name = nullptr;

 private:
  void create(const InstanceOptions& options);
  void load_debug_utils();
  void listen();
  void list_devices(const std::optional<DeviceProfile>& as_if);
  void destroy();
};

}  // namespace assay::gpu
