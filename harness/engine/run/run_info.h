#pragma once

#include "harness/report/record/run_info.h"

#include <span>
#include <string>
#include <vector>

namespace assay {

/// The settings that all devices of a run share.
struct RunSettings {
  std::string run_id;  ///< empty: make a new one
  std::string version;
  std::string compiler;
  std::string build_type;
  std::vector<std::string> command;
  std::uint64_t seed = 0;
  bool validation = false;
  bool robust_access = false;
  std::string repro_options;  ///< see RunInfo
};

/// A unique run id: the time and a random number, "20260102T030405Z-1a2b3c".
std::string new_run_id();

/// Describes a run that starts now on `device`: its id, the host, the Vulkan loader's environment variables.
RunInfo make_run_info(const RunSettings& settings, const DeviceInfo& device);

/// A folder name for devices[index] that is unique among `devices`: "nvidia-h100-80gb-hbm3". The start of the
/// UUID (and then the index) is appended when names are equal.
std::string device_slug(std::span<const DeviceInfo> devices, std::size_t index);

}  // namespace assay
