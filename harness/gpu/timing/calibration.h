#pragma once

#include "harness/op/timer_calibration.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// One submission of stamps with work between them.
struct StampedRun {
  std::vector<std::uint64_t> ticks;  ///< in the order of recording, bits that are not valid included
  double wall_ns = 0;                ///< submit to fence on the CPU's clock
};

/// Both clocks at one moment.
struct ClockReading {
  std::uint64_t ticks = 0;
  double cpu_ns = 0;
};

/// A queue's timer as calibration sees it, so that it can be held against timers that are wrong.
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
  /// Nothing where the device cannot tell (VK_EXT_calibrated_timestamps).
  virtual std::optional<ClockReading> clocks() = 0;
};

/// One comparison of the clocks.
struct CrossCheck {
  StampedRun long_run;   ///< two stamps around a dispatch of 20 to 50 ms
  StampedRun short_run;  ///< the same around a small part of it: what a submission costs beside the kernel
  std::optional<ClockReading> before, after;  ///< the long submission
};

/// All that was read from one timer.
struct TimerReadings {
  std::uint32_t valid_bits = 0;
  double period_ns = 0;
  std::vector<StampedRun> idle;    ///< nothing but a stamp
  std::vector<StampedRun> empty;   ///< nothing between the stamps
  std::vector<StampedRun> ladder;  ///< a little work between each two, some 20 ms in all
  std::vector<CrossCheck> checks;
};

/// Judges what was read. Broken: no timestamps; a counter that stands still or goes backwards (a step of more
/// than half its range: a wrap is none); a median of the cross-checks outside of 0.9 to 1.1.
/// Coarse: 50 units, the least that a sample may last, are more than 5 ms, several times what one usually
/// does.
TimerCalibration judge(const TimerReadings& readings);

/// Reads and judges. A cross-check that disagrees is repeated: a machine that is busy may delay either clock.
TimerCalibration calibrate(TimerProbe& probe);

}  // namespace assay::gpu
