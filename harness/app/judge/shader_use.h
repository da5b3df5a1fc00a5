#pragma once

#include "harness/app/judge/submission.h"
#include "harness/cases/case.h"
#include "harness/gpu/gpu.h"
#include "harness/op/device_info.h"

#include <map>
#include <string>

namespace assay::app {

/// Decides which cases use a submission on a device.
class ShaderUse {
 public:
  /// Both must outlive this.
  ShaderUse(const Submission& submission, const DeviceInfo& device);

  /// Whether the device can run the case, and its program uses a file of the submission.
  bool matters_for(const Case& test_case);

  const DeviceInfo& device() const { return device_; }

 private:
  bool is_made_of_it(const std::string& shader);

  const DeviceInfo& device_;
  gpu::ShaderLibrary library_;
  std::map<std::string, bool> known_;  ///< by shader
};

}  // namespace assay::app
