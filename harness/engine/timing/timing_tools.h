#pragma once

#include "harness/engine/timing/clock_watch.h"
#include "harness/gpu/gpu.h"
#include "harness/op/ceilings.h"
#include "harness/op/timer_calibration.h"

#include <functional>
#include <optional>

namespace assay {

/// What timing needs of a device beside its programs; made once for a device, kept between runs.
struct TimingTools {
  /// Calibrates the timer, unless it is `known` (a broken one is not used from then on), and heats the device
  /// for its clock probe's length: two or three seconds on a device that stood idle.
  TimingTools(gpu::Device& owner, gpu::ShaderLibrary& shaders,
              const std::optional<TimerCalibration>& known = std::nullopt);

  gpu::Device& device;
  TimerCalibration timer;
  gpu::ClockProbe probe;
  ClockWatch clock;
  Ceilings ceilings;  ///< nothing measured: rows carry no percentages
  /// Measures the ceilings again and leaves the larger of both in `ceilings`: asked for when a row is above
  /// them, since the device may have been disturbed when they were measured. May be empty.
  std::function<void()> measure_again;
  int measured_again = 0;
};

}  // namespace assay
