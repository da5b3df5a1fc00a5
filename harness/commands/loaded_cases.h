#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/commands/case_options.h"

#include <filesystem>
#include <iosfwd>
#include <span>
#include <vector>

namespace assay::app {

/// Loads the cases of these paths. Throws Error if there is no report at `options.times`, or it has no time
/// of a node.
LoadResult load(const CaseOptions& options, std::span<const std::filesystem::path> paths,
                const Registry& registry);

/// The selected ones of the cases that load() returned.
std::vector<const Case*> selected_cases(const CaseOptions& options, std::span<const Case> loaded);

/// Loads the cases and writes their errors to `errors`. Throws what load() throws.
LoadResult load_and_complain(const CaseOptions& options, const Registry& registry, std::ostream& errors);

}  // namespace assay::app
