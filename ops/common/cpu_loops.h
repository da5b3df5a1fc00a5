#pragma once

#include "harness/device/device_info.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::ops {

/// lavapipe silently leaves all loops of an invocation after this many iterations.
inline constexpr std::int64_t most_turns_on_a_cpu = 65535;

/// The iterations of a loop that contains loops with `inside` iterations: the check that finds its end counts
/// too.
inline std::int64_t turns(std::int64_t count, std::int64_t inside = 0) {
  return count * (1 + inside) + 1;
}

/// Whether so many iterations in an invocation are more than a device runs, or than the one that it is
/// planned as.
inline bool leaves_loops_early(std::int64_t turns, const DeviceInfo& device) {
  return (device.is_cpu() || device.is_planned_as_cpu()) && turns > most_turns_on_a_cpu;
}

/// Why such a device cannot run a kernel whose invocations go through so many iterations, or nothing.
std::optional<std::string> loops_unsupported_reason(std::int64_t turns, const DeviceInfo& device);

}  // namespace assay::ops
