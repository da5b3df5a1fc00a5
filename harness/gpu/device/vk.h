#pragma once

#include "harness/gpu/gpu.h"

#include <volk.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

namespace assay::gpu {

/// "VK_ERROR_DEVICE_LOST"; "VkResult -17" for one that has no name here.
std::string result_name(VkResult result);

/// Does nothing for VK_SUCCESS and the other results >= 0. Else throws what the result means (OutOfMemory,
/// DeviceLost, or Error(Infrastructure)). `doing` is what was being done and on what: "creating the pipeline
/// of dispatch 'quantize'".
void check(VkResult result, std::string_view doing);

/// The same for the driver's compiler: what else it may answer is its word on this one shader, and throws
/// CompileError, which fails a row and ends no run.
void check_compiled(VkResult result, std::string_view doing);

/// An open VkDevice as all that is made from it sees it.
struct DeviceTable {
  VkDevice device = VK_NULL_HANDLE;
  /// The functions of this device. volk's global device functions are never loaded: they could serve one
  /// device a process.
  VolkDeviceTable vk{};
  /// Set when a submission did not end in time. The GPU may still be using everything, and waiting for it
  /// may take forever, so nothing of this device is destroyed any more: its objects are leaked on purpose.
  std::atomic<bool> abandoned = false;
  /// Set when the device was lost or abandoned: nothing can be submitted any more.
  std::atomic<bool> lost = false;
};

/// Owns one object made from a device.
template <class T>
class Handle {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, T, const VkAllocationCallbacks*);

  Handle() = default;
  Handle(const DeviceTable& table, T value, Destroy destroy)
      : table_(&table), value_(value), destroy_(destroy) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    swap(other);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  T get() const { return value_; }
  explicit operator bool() const { return value_ != VK_NULL_HANDLE; }

  void reset() {
    if (value_ != VK_NULL_HANDLE && !table_->abandoned) {
      destroy_(table_->device, value_, nullptr);
    }
    value_ = VK_NULL_HANDLE;
  }

 private:
  void swap(Handle& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(value_, other.value_);
    std::swap(destroy_, other.destroy_);
  }

  const DeviceTable* table_ = nullptr;
  T value_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
};

}  // namespace assay::gpu
