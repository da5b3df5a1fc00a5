#pragma once

#include "harness/cases/tuning/tuning.h"
#include "harness/commands/tune/ranges.h"
#include "harness/commands/tune/tuning_points.h"

#include <vector>

namespace assay::app {

/// A class while it is tuned.
struct TunedClass {
  TuningClass group;
  std::vector<Tune> candidates;       ///< distinct best ones of its points; number 1 is the first
  std::vector<MeasuredShape> shapes;  ///< the points that were confirmed
  bool is_searched = false;           ///< at one point at least

  /// Whether what a file says of it is replaced.
  bool is_tuned() const { return is_searched && (candidates.empty() || !shapes.empty()); }
};

/// The entries of the file about a class, from what was confirmed.
std::vector<TuningEntry> entries_of(const TunedClass& tuned);

}  // namespace assay::app
