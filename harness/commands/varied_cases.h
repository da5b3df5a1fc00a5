#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/commands/case_options.h"

#include <functional>
#include <vector>

namespace assay::app {

/// Loads the cases once more with other options.
using LoadAgain = std::function<LoadResult(const LoadOptions&)>;

/// What --set makes of `loaded`: the selected cases with the values of `options.values`, or, if none is
/// selected, the cases that get a selected id by them, as the line that runs a row again names such an id.
LoadResult with_values(const CaseOptions& options, LoadOptions how, LoadResult loaded, const LoadAgain& load);

/// What --replay runs: the selected cases, each once for accuracy, followed by copies with other sizes of
/// workgroup if their impl has tunables for these and the case does not set them. A copy's id is that of its
/// case followed by "/local_size64" or "/local_16x4x1"; a filter may select it alone.
std::vector<Case> replayed_cases(const CaseOptions& options, std::vector<Case> cases);

}  // namespace assay::app
