#pragma once

#include "harness/gpu/device.h"

#include <string>

namespace assay::gpu {

/// One command buffer, from begin to fence. A device has one at a time.
class Submission {
 public:
  /// Begins recording. `doing` is what it does, for messages ("running 'x/small'"); `label` names it in
  /// debuggers. Throws DeviceLost when the device is gone already.
  Submission(Device::State& device, std::string doing, std::string_view label = {});

  VkCommandBuffer commands() const { return device_.commands; }

  /// Ends, submits and waits. Returns ns from submit to fence on the CPU's clock. Throws Timeout, DeviceLost;
  /// after either nothing can be submitted to this device any more.
  double submit_and_wait(double timeout_s);

 private:
  void wait(double timeout_s);
  /// check(), and remembers a lost device.
  void check_alive(VkResult result, std::string_view step);

  Device::State& device_;
  std::string doing_;
  bool labelled_ = false;
};

}  // namespace assay::gpu
