#pragma once

#include "harness/cases/tuning/tuning.h"
#include "harness/device/device_info.h"
#include "harness/op/op.h"

#include <filesystem>
#include <optional>
#include <string>

namespace assay::app {

struct RunOptions;

/// A tuning file of a device.
struct DeviceTuning {
  Tuning tuning;
  std::filesystem::path file;
  bool is_shipped = false;  ///< found by the device's name; else the command line names it
  std::string hash;         ///< of its text
  std::string note;         ///< that it was made on another device or with another driver; empty: it was not
  bool is_ignored = false;  ///< it is a shipped file, made with another driver: it says little of this one

  /// What rows are tuned by; null: the file is ignored.
  const Tuning* taken() const { return is_ignored ? nullptr : &tuning; }
};

/// The file for a reader of the report, who may be elsewhere: "tuning/acme.yaml", and what is to be said of
/// it: "t.yaml: made on GPU 9, and this is GPU 8", "acme.yaml: not taken: made with the driver 1.2, and this
/// is 1.3". Of a shipped file that is not in the current directory only the name.
std::string told_in_report(const DeviceTuning& found);

/// The name of a device's tuning file: "nvidia-h100-80gb-hbm3.yaml".
std::string tuning_file_name(const DeviceInfo& device);

/// What a run asks for: --tuning, but "none" for nodes of chains, which are timed as chains run them. Throws
/// Error(Usage) for these and a file.
const std::string& tuning_of(const RunOptions& options);

/// What --tuning asks for on a device. "none": nothing. "auto": the shipped file of the device,
/// tuning/<name>.yaml in the current directory, next to the binary or in ../share/assay from it; nothing if
/// there is none. Else a file. Throws Error(Usage) with all errors of the file, and for a shipped file that
/// names another device.
std::optional<DeviceTuning> found_tuning(const std::string& asked, const DeviceInfo& device,
                                         const Registry& registry);

/// That file if it is used, that is, not ignored. Throws likewise.
std::optional<DeviceTuning> tuning_for(const std::string& asked, const DeviceInfo& device,
                                       const Registry& registry);

/// Reads the file that --tuning names, before a device is known. Does nothing for "none" and "auto". Throws
/// as tuning_for() does.
void check_named_tuning(const std::string& asked, const Registry& registry);

}  // namespace assay::app
