#pragma once

#include "harness/gpu/device/messages.h"
#include "harness/gpu/device/physical_device.h"
#include "harness/gpu/device/vk.h"

namespace assay::gpu {

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
  void list_devices();
};

}  // namespace assay::gpu
