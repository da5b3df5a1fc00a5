#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/chain/node_times.h"
#include "harness/commands/run_options.h"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

namespace assay::app {

/// Reads the times of a report's rows that passed with assay's own kernels, hot and untuned; `report` is a
/// path as for journals_of(), with one device. Throws Error if there is no such report, it is damaged, its
/// run had robust access or the validation layer on, or no row of it has such a time.
std::shared_ptr<const chain::NodeTimes> read_node_times(const std::filesystem::path& report);

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

/// Loads the cases of these paths. Throws Error if there is no report at `options.times`, or it has no time
/// of a node.
LoadResult load(const CaseOptions& options, std::span<const std::filesystem::path> paths,
                const Registry& registry);

/// The selected ones of the cases that load() returned.
std::vector<const Case*> selected_cases(const CaseOptions& options, std::span<const Case> loaded);

/// Loads the cases and writes their errors to `errors`. Throws what load() throws.
LoadResult load_and_complain(const CaseOptions& options, const Registry& registry, std::ostream& errors);

}  // namespace assay::app
