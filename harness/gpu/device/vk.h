#pragma once

#include "harness/gpu/gpu.h"

#include <volk.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::gpu {

/// The name of a result: "VK_ERROR_DEVICE_LOST", or "VkResult -17" for one without a name here.
std::string result_name(VkResult result);

/// Throws when `result` is negative: OutOfMemory, DeviceLost, or Error(Infrastructure). VK_SUCCESS and the
/// other results >= 0 pass. `doing` says what was being done and on what: "creating the pipeline of dispatch
/// 'quantize'".
void check(VkResult result, std::string_view doing);

/// Like check(), for calls to the driver's compiler: results by which a compiler gives up on one shader throw
/// CompileError, which fails a row and does not end the run.
void check_compiled(VkResult result, std::string_view doing);

/// The result of a call to the driver's compiler, which may have been a second attempt.
struct CompileAttempts {
  VkResult result = VK_SUCCESS;
  int count = 1;
  std::string first_failure;  ///< name of the first attempt's result, if the second one succeeded
};

/// Calls the driver's compiler, and once more if it fails with a result that may come from passing
/// circumstances: out of memory, which other processes may free, or VK_ERROR_UNKNOWN. Before that it calls
/// `asks_again`, which may be empty.
CompileAttempts compile_in_two_attempts(const std::function<VkResult()>& compile,
                                        const std::function<void()>& asks_again = {});

/// The part of an open VkDevice that objects made from it need.
struct DeviceTable {
  VkDevice device = VK_NULL_HANDLE;
  /// The functions of this device. volk's global device functions are never loaded: they could serve only one
  /// device per process.
  VolkDeviceTable vk{};
  /// Set when a submission did not finish in time. The GPU may still be using everything, and waiting for it
  /// may take forever, so objects of this device are no longer destroyed: they are leaked on purpose.
  std::atomic<bool> abandoned = false;
  /// Set when the device was lost or abandoned: nothing more can be submitted.
  std::atomic<bool> lost = false;
};

/// Owns one Vulkan object made from a device.
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
