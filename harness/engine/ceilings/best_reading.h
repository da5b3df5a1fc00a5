#pragma once

#include "harness/engine/timing/clock_watch.h"

#include <functional>
#include <optional>

namespace assay::ceiling {

/// What one batch took: ns of one run, and of the clock probe behind it (0: there is none).
struct Reading {
  double ns = 0;
  double probe_ns = 0;
};

/// How long and how often a kernel runs for one figure.
struct Patience {
  int repetitions = 6;   ///< readings at full clock, of which the best counts
  double most_ns = 6e7;  ///< no further one is taken after so much time of those
  /// A kernel runs for so long, and its readings do not count, until the clock is up; once more after a rest.
  double heating_s = 0.75;
  double rest_s = 0.25;
};

/// What the readings are taken of, and the time meanwhile.
struct ReadingSource {
  std::function<Reading()> read;
  std::function<double()> now_s;
  std::function<void(double)> rest_s;
};

/// The shortest of some readings at the device's full clock: those whose clock probe was down heat the device
/// and do not count. Nothing when the clock was down whenever it was tried. `clock` hears all probes.
std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch);

}  // namespace assay::ceiling
