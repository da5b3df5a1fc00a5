#pragma once

#include "harness/gpu/device/instance.h"
#include "harness/gpu/device/vk.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// The driver's pipeline cache on disk: one file per device and driver. A file is trusted only when its size,
/// its identity and the hash of its data are right; anything else counts as absent and is overwritten. A
/// folder that cannot be written is no error. When several processes write at the same time, the last one's
/// file stays, whole.
///
/// A file is the header (8 bytes "ASSAYPLC", u32 format, u32 unused, u64 bytes of data, 32 characters hash of
/// the identity, 32 characters hash of the data) and the data, all little endian.
class DriverCacheFile {
 public:
  static constexpr std::uint64_t usual_limit = std::uint64_t{256} << 20;

  /// `identity` names the device and its driver. Data of more than `most` bytes are neither read nor kept.
  DriverCacheFile(const std::filesystem::path& directory, const std::string& identity,
                  std::uint64_t most = usual_limit);

  std::optional<std::vector<std::byte>> load() const;
  /// Data above the size limit are not stored, and the existing file is removed: the next run starts anew.
  void store(std::span<const std::byte> data) const;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string identity_hash_;
  std::uint64_t most_;
};

/// Members are destroyed in reverse order: objects made from the device go before the device itself.
struct Device::State {
  State(Instance::State& instance, const PhysicalDevice& physical);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Instance::State& instance;
  const PhysicalDevice& physical;
  DeviceInfo trusted;  ///< what `physical` lists, without what was found to be wrong
  DeviceTable table;
  VkQueue queue = VK_NULL_HANDLE;
  /// Live VkDeviceMemory objects. Any thread may free what the memory pool keeps.
  std::atomic<std::uint32_t> allocations = 0;
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
  /// memory, the memory that workspaces reuse, the pipelines that programs share.
  struct Attachment {
    virtual ~Attachment() = default;
  };
  std::unique_ptr<Attachment> staging;
  std::unique_ptr<Attachment> memory_pool;
  std::once_flag memory_pool_made;  ///< any thread may be the first to need it
  Handle<VkSampler> sampler;        ///< nearest_sampler(); made when it is first needed
  std::unique_ptr<Attachment> pipelines;
  std::once_flag pipelines_made;  ///< any thread may be the first to need them
  std::unique_ptr<Attachment> workgroup_poisoner;

  const DeviceInfo& info() const { return trusted; }
  /// Whether the queue has timestamps that are not distrusted.
  bool has_timestamps() const { return info().timestamp_valid_bits > 0 && !timestamps_distrusted; }
  /// Throws DeviceLost when nothing more can run; `doing` names what was about to be done.
  void require_alive(std::string_view doing) const;
  /// Like check(); marks the device as lost when it is, and adds what its driver says about that.
  void check_alive(VkResult result, std::string_view doing);
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

  /// Reports the phase once more: what comes now has the phase's whole time again.
  void again() const;

 private:
  Device::State& device_;
  Phase before_;
  Phase phase_;
  double limit_s_;
};

/// Any handle as the integer that vkSetDebugUtilsObjectName takes.
template <class T>
std::uint64_t object_id(T handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

/// A driver's report on a lost device (VK_EXT_device_fault).
struct Fault {
  std::string description;
  struct Address {
    VkDeviceFaultAddressTypeEXT type = VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
    std::uint64_t address = 0;
    std::uint64_t precision = 0;  ///< bytes; the fault lies in the block of this size and alignment
  };
  std::vector<Address> addresses;
  std::vector<std::string> vendor;  ///< "description (code, data)"
};

/// " (the driver says: MMU fault; invalid read at 0x7f00, within 4096 bytes)", empty when the fault has no
/// content.
std::string to_string(const Fault& fault);

/// The fault of a device that has just been lost, as text; empty when its driver does not report faults.
std::string fault_text(const Device::State& device);

}  // namespace assay::gpu
