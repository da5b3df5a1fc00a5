#pragma once

#include "harness/cases/tuning/tuning.h"
#include "harness/device/device_info.h"
#include "harness/op/op.h"

#include <filesystem>
#include <optional>
#include <string>

namespace assay::app {

/// A tuning file that a run on a device uses.
struct DeviceTuning {
  Tuning tuning;
  std::filesystem::path file;
  std::string hash;  ///< of its contents
  std::string note;  ///< that it was made on another device or with another driver; empty: it was not
};

/// The name of a device's tuning file: "nvidia-h100-80gb-hbm3.yaml".
std::string tuning_file_name(const DeviceInfo& device);

/// What --tuning asks for on a device. "none": nothing. "auto": the shipped file of the device,
/// tuning/<name>.yaml in the current directory, next to the binary or in ../share/assay from it; nothing if
/// there is none. Else a file. Throws Error(Usage) with all errors of the file, and for a shipped file that
/// names another device.
std::optional<DeviceTuning> tuning_for(const std::string& asked, const DeviceInfo& device,
                                       const Registry& registry);

/// Reads the file that --tuning names, before a device is known. Does nothing for "none" and "auto". Throws
/// as tuning_for() does.
void check_named_tuning(const std::string& asked, const Registry& registry);

}  // namespace assay::app
