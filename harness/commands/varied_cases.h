#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/commands/case_options.h"

#include <functional>
#include <vector>

namespace assay::app {

/// Loads the cases once more with other options.
using LoadAgain = std::function<LoadResult(const LoadOptions&)>;

struct VariedCases {
  LoadResult loaded;
  bool are_selected =
      false;  ///< only what the options select is left; if not, --filter is still to be applied
};

/// What --set makes of the cases: the selected ones with the values of `options.values`, or, if none is
/// selected, those that get a selected id by them, as the line that runs a row again names such an id. `load`
/// loads the cases with `how`, without --nodes and --replay.
VariedCases with_values(const CaseOptions& options, LoadOptions how, const LoadAgain& load);

/// What --replay runs: the selected ones of `cases`, each once for accuracy, followed by copies with other
/// sizes of workgroup if their impl has tunables for these and the case does not set them. A copy's id is
/// that of its case followed by "/local_size64" or "/local_16x4x1"; a filter may select or exclude it alone.
std::vector<Case> replayed_cases(const CaseOptions& options, std::vector<Case> cases, bool are_selected);

}  // namespace assay::app
