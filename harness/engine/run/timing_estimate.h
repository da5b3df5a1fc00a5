#pragma once

#include "harness/engine/timing/sampler.h"

#include <cstddef>

namespace assay {

/// Estimates how long the timing of rows takes, from the rows timed before.
class TimingEstimate {
 public:
  explicit TimingEstimate(const SamplingOptions& options) : first_guess_s_(guess_s(options)) {}

  /// Records that `rows` rows were timed together in `wall_s` seconds.
  void note(std::size_t rows, double wall_s);
  /// Estimated wall time for this many rows.
  double seconds(std::size_t rows) const;

 private:
  /// The guess for a row when no row was timed yet: samples, heating before each block, memory and extra
  /// passes.
  static double guess_s(const SamplingOptions& options) { return 1.5 * options.budget_s + 0.3; }

  double first_guess_s_;
  std::size_t rows_ = 0;
  double wall_s_ = 0;
};

}  // namespace assay
