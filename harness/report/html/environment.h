#pragma once

#include "harness/report/record/record.h"

#include <string>
#include <vector>

namespace assay {

/// A change in the environment of the rows between two runs.
struct EnvironmentChange {
  std::string what;  ///< "driver"
  std::string base, next;
};

/// The differences between two runs' environments on which figures depend. Ceilings are listed if they differ
/// by more than 2 %, as smaller differences are scatter.
std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next);

}  // namespace assay
