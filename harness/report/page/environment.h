#pragma once

#include "harness/report/record/record.h"

#include <string>
#include <vector>

namespace assay {

/// Something around the rows that is not as it was.
struct EnvironmentChange {
  std::string what;  ///< "driver"
  std::string base, next;
};

/// In what the circumstances of two runs differ that figures depend on. Ceilings are named where they differ
/// by more than 2 %: less is how they scatter.
std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next);

}  // namespace assay
