#pragma once

#include "harness/report/record/record.h"

#include <span>
#include <string>
#include <vector>

namespace assay {

/// What is the same for all devices of a run.
struct RunSettings {
  std::string run_id;  ///< empty: a new one
  std::string version;
  std::string compiler;
  std::string build_type;
  std::vector<std::string> command;
  std::uint64_t seed = 0;
  bool validation = false;
  bool robust_access = false;
  std::string repro_options;  ///< see RunInfo
};

/// An id that no other run has: "20260102T030405Z-1a2b3c", the time and a random number.
std::string new_run_id();

/// The circumstances of a run that starts now on `device`: its id, the host, the loader's variables.
RunInfo make_run_info(const RunSettings& settings, const DeviceInfo& device);

/// A folder name for devices[index] that no other of `devices` has: "nvidia-h100-80gb-hbm3", with the start
/// of the UUID (and then the index) appended where names are equal.
std::string device_slug(std::span<const DeviceInfo> devices, std::size_t index);

}  // namespace assay
