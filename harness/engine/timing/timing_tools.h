#pragma once

#include "harness/device/ceilings.h"
#include "harness/device/timer_calibration.h"
#include "harness/engine/timing/clock_watch.h"
#include "harness/gpu/gpu.h"

#include <functional>
#include <optional>

namespace assay {

/// Everything besides the programs that timing needs on a device; made once per device and kept between runs.
struct TimingTools {
  /// Calibrates the timer unless it is `known` (a broken timer is no longer used), and heats the device to
  /// choose its clock probe's length: takes two or three seconds on a device that was idle.
  TimingTools(gpu::Device& owner, gpu::ShaderLibrary& shaders,
              const std::optional<TimerCalibration>& known = std::nullopt);

  gpu::Device& device;
  TimerCalibration timer;
  gpu::ClockProbe probe;
  gpu::BusyWork busy;  ///< runs while no row is timed, between the blocks of rows
  ClockWatch clock;
  Ceilings ceilings;  ///< empty until measured: rows then have no percentages
  /// Measures the ceilings again and keeps the larger of both in `ceilings`. Called when a row is above them,
  /// because the device may have been disturbed when they were measured. May be empty.
  std::function<void()> measure_again;
  int measured_again = 0;
};

}  // namespace assay
