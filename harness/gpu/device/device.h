#pragma once

#include "harness/gpu/device/instance.h"
#include "harness/gpu/device/vk.h"
#include "harness/gpu/memory/staging.h"

namespace assay::gpu {

/// Members die in reverse order: what was made from the device before the device itself.
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
  std::uint64_t next_workspace_id = 0;  ///< workspaces are told apart by number, never by address
  bool timestamps_distrusted = false;
  bool tells_statistics = false;  ///< of pipelines: VK_KHR_pipeline_executable_properties

  Handle<VkPipelineCache> pipeline_cache;
  Handle<VkCommandPool> command_pool;
  VkCommandBuffer commands = VK_NULL_HANDLE;  ///< one submission at a time
  Handle<VkFence> fence;
  std::unique_ptr<Staging> staging;  ///< see staging_area()

  const DeviceInfo& info() const { return physical.info; }
  /// Throws DeviceLost when nothing can run any more; `doing` is what was about to be done.
  void require_alive(std::string_view doing) const;
  /// The way to and from memory that the host cannot see; made when first asked for.
  Staging& staging_area();
  /// Names an object for the validation layer's messages and for debuggers. Does nothing without them.
  void name(VkObjectType type, std::uint64_t object, const std::string& name) const;

 private:
  void open();
  void create_commands();
};

/// What vkSetDebugUtilsObjectName takes for any handle.
template <class T>
std::uint64_t object_id(T handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

}  // namespace assay::gpu
