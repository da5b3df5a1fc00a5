#pragma once

#include "harness/gpu/device/driver_cache.h"
#include "harness/gpu/device/instance.h"
#include "harness/gpu/device/vk.h"

#include <mutex>

namespace assay::gpu {

/// Members are destroyed in reverse order: objects made from the device go before the device itself.
struct Device::State {
  State(Instance::State& instance, const PhysicalDevice& physical);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Instance::State& instance;
  const PhysicalDevice& physical;
  DeviceTable table;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t allocations = 0;        ///< live VkDeviceMemory objects
  std::uint64_t next_workspace_id = 0;  ///< workspaces are identified by number, never by address
  bool timestamps_distrusted = false;
  PhaseListener phase_listener;   ///< may be empty
  Phase phase = Phase::Host;      ///< the one reported last
  bool tells_statistics = false;  ///< VK_KHR_pipeline_executable_properties
  bool tells_faults = false;      ///< VK_EXT_device_fault
  /// Shaders find zeros in workgroup memory: with robust access, where the device can do it.
  bool clears_workgroup_memory = false;

  Handle<VkPipelineCache> pipeline_cache;
  std::optional<DriverCacheFile> pipeline_file;  ///< where the pipeline cache is kept on disk
  /// Size of the pipeline cache when it was last loaded or saved.
  std::size_t kept_bytes = 0;
  Handle<VkCommandPool> command_pool;
  VkCommandBuffer commands = VK_NULL_HANDLE;  ///< one submission at a time
  Handle<VkFence> fence;
  /// An object that is made from the device when it is first needed and destroyed before it: its staging
  /// memory, the pipelines that programs share.
  struct Attachment {
    virtual ~Attachment() = default;
  };
  std::unique_ptr<Attachment> staging;
  Handle<VkSampler> sampler;  ///< nearest_sampler(); made when it is first needed
  std::unique_ptr<Attachment> pipelines;
  std::once_flag pipelines_made;  ///< any thread may be the first to need them

  const DeviceInfo& info() const { return physical.info; }
  /// Throws DeviceLost when nothing more can run; `doing` names what was about to be done.
  void require_alive(std::string_view doing) const;
  /// Names an object for the validation layer's messages and for debuggers. Does nothing without them.
  void name(VkObjectType type, std::uint64_t object, const std::string& name) const;
  void create_pipeline_cache(std::span<const std::byte> data);
  void take_pipeline_data(std::span<const std::byte> data);
  /// The content of the driver's pipeline cache.
  std::vector<std::byte> pipeline_data() const;

 private:
  void open();
  void create_commands();
};

/// Reports a phase for as long as this object lives, then the one before it again. Reports nothing while a
/// row is timed or the ceilings are measured: either is one phase with many submissions.
class PhaseScope {
 public:
  PhaseScope(Device::State& device, Phase phase, double limit_s = 0);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Device::State& device_;
  Phase before_;
};

/// Any handle as the integer that vkSetDebugUtilsObjectName takes.
template <class T>
std::uint64_t object_id(T handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

}  // namespace assay::gpu
