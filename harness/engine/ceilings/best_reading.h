#pragma once

#include "harness/engine/timing/clock_watch.h"

#include <functional>
#include <optional>

namespace assay::ceiling {

/// The times of one batch: ns per run, and ns of the clock probe after it (0: there is none).
struct Reading {
  double ns = 0;
  double probe_ns = 0;
};

/// Limits on the runs of a kernel for one figure.
struct Patience {
  int repetitions = 6;   ///< readings at full clock; the best one counts
  double most_ns = 6e7;  ///< no further reading once these have taken this long
  /// A kernel runs for at most this long, and its readings do not count, until the clock is up; once more
  /// after a rest.
  double heating_s = 0.75;
  double rest_s = 0.25;
};

/// Takes the readings, reads the clock and rests; tests replace it.
struct ReadingSource {
  std::function<Reading()> read;
  std::function<double()> now_s;
  std::function<void(double)> rest_s;
};

/// The shortest of several readings at the device's full clock. Readings whose clock probe was slow heat the
/// device and do not count. Nothing when the clock was never up. `clock` gets all probe times.
std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch);

}  // namespace assay::ceiling
