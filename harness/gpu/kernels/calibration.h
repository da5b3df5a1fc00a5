#pragma once

#include "harness/device/device_info.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// The result of one submission: timestamps with work between them.
struct StampedRun {
  std::vector<std::uint64_t> ticks;  ///< in recording order, invalid bits included
  double wall_ns = 0;                ///< from submission to fence, by the CPU's clock
};

/// The device's and the CPU's clock at one moment.
struct ClockReading {
  std::uint64_t ticks = 0;
  double cpu_ns = 0;
};

/// A queue's timer as calibration sees it; an interface, so that tests can calibrate timers that are wrong.
class TimerProbe {
 public:
  TimerProbe() = default;
  virtual ~TimerProbe() = default;
  TimerProbe(const TimerProbe&) = delete;
  TimerProbe& operator=(const TimerProbe&) = delete;

  virtual std::uint32_t valid_bits() const = 0;  ///< 0: no timestamps, and run() gives no ticks
  virtual double period_ns() const = 0;
  /// Rounds of the clock probe's kernel that last 20 to 50 ms.
  virtual std::uint32_t long_rounds() = 0;
  /// One submission: a stamp, then for each entry that many rounds of the clock probe's kernel (0: nothing)
  /// and a stamp.
  virtual StampedRun run(std::span<const std::uint32_t> rounds) = 0;
  /// Both clocks now; nothing when the device cannot read them together (VK_EXT_calibrated_timestamps).
  virtual std::optional<ClockReading> clocks() = 0;
};

/// One comparison of the device's clock with the CPU's.
struct CrossCheck {
  StampedRun long_run;   ///< two timestamps around a dispatch of 20 to 50 ms
  StampedRun short_run;  ///< around a small part of that work: shows the overhead of a submission
  std::optional<ClockReading> before, after;  ///< the clocks before and after the long submission
};

/// All readings of one timer.
struct TimerReadings {
  std::uint32_t valid_bits = 0;
  double period_ns = 0;
  std::vector<StampedRun> idle;    ///< a single timestamp
  std::vector<StampedRun> empty;   ///< nothing between the timestamps
  std::vector<StampedRun> ladder;  ///< a little work between each two, about 20 ms in all
  std::vector<CrossCheck> checks;
};

/// Evaluates the readings. A timer is broken when there are no timestamps, when its counter stands still or
/// goes backwards (a step that is more than half of its range; a wrap does not count), or when the median of
/// the cross-checks is outside of 0.9 to 1.1. It is coarse when 50 units, the minimum length of a sample, are
/// more than 5 ms, several times the usual length.
TimerCalibration judge(const TimerReadings& readings);

/// Reads the timer and evaluates the readings. A cross-check that disagrees is repeated, because a busy
/// machine may delay either clock.
TimerCalibration calibrate(TimerProbe& probe);

}  // namespace assay::gpu
