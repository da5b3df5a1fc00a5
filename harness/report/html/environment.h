#pragma once

#include "harness/report/record/record.h"

#include <string>
#include <vector>

namespace assay {

/// A change in the environment of the rows between two runs.
struct EnvironmentChange {
  std::string what;        ///< "driver"; ends with "(hash)" if the values are hashes
  std::string base, next;  ///< hashes are whole: who shows them may shorten them
};

/// The differences between two runs' environments on which figures depend. Ceilings are listed if they differ
/// by more than 2 %, as smaller differences are scatter.
std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next);

}  // namespace assay
