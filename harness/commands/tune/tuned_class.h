#pragma once

#include "harness/cases/tuning/tuning.h"
#include "harness/commands/tune/ranges.h"
#include "harness/commands/tune/tuning_points.h"

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace assay::app {

/// A class while it is tuned.
struct TunedClass {
  TuningClass group;
  std::vector<Tune> candidates;                  ///< distinct best ones of its points; number 1 is the first
  std::vector<MeasuredShape> shapes;             ///< the points that were confirmed
  std::set<std::vector<std::int64_t>> searched;  ///< TuningPoint::at of the points that were searched
  std::set<Tune> failed;  ///< are wrong, crash or hang at some point, and so are fit for none

  /// Whether it is known what is best at a point: it was searched, and what was found was confirmed there.
  bool is_tuned_at(const TuningPoint& point) const;
  /// A candidate that fails at a point may be wrong, unseen, at others too. Returns whether that is new.
  bool leave_out(const Tune& failing);
};

/// Whether an older entry says nothing that these classes do not know: all of its points were measured again.
bool is_replaced(const TuningEntry& older, const std::deque<TunedClass>& classes);

/// The entries of the file about a class, from what was confirmed of candidates that did not fail.
std::vector<TuningEntry> entries_of(const TunedClass& tuned);

}  // namespace assay::app
