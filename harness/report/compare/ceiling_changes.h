#pragma once

#include "harness/device/ceilings.h"

#include <span>
#include <string>
#include <vector>

namespace assay {

/// A ceiling that two runs measured differently.
struct CeilingChange {
  std::string what;         ///< "ceiling bandwidth"
  std::string before, now;  ///< "2861 GB/s", or "not measured"
  double percent = 0;       ///< change relative to `before`; 0: one of the two was not measured
  /// How much longer work that this ceiling limits takes now; 0: unknown, or it limits none (dispatch
  /// spacing).
  double time_ratio = 0;
};

/// The ceilings that differ by more than this share of the larger one (0.05: 5 %), or that only one run has.
std::vector<CeilingChange> ceiling_changes(const Ceilings& before, const Ceilings& now, double share);
/// The same for the medians over several runs on a side; there is at least one.
std::vector<CeilingChange> ceiling_changes(std::span<const Ceilings* const> before,
                                           std::span<const Ceilings* const> now, double share);

}  // namespace assay
