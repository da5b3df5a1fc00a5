#pragma once

#include "harness/engine/timing/sampler.h"

#include <cstddef>

namespace assay {

/// How long the timing of rows takes, judged by those that were timed before.
class TimingEstimate {
 public:
  explicit TimingEstimate(const SamplingOptions& options) : first_guess_s_(guess_s(options)) {}

  /// So many rows were timed together, in so much wall time.
  void note(std::size_t rows, double wall_s);
  /// Wall time that so many rows will take.
  double seconds(std::size_t rows) const;

 private:
  /// Of a row of which nothing is known: its samples, heat before each block, its memory and side passes.
  static double guess_s(const SamplingOptions& options) { return 1.5 * options.budget_s + 0.3; }

  double first_guess_s_;
  std::size_t rows_ = 0;
  double wall_s_ = 0;
};

}  // namespace assay
