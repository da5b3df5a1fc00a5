#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/cases/select.h"
#include "harness/op/roofline.h"
#include "harness/report/record/row_info.h"
#include "harness/report/record/run_info.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One row of a run.
struct PlannedRow {
  const Case* test_case = nullptr;
  Mode mode = Mode::Accu;
  bool versus = false;       ///< with the other version of the shaders
  Cache cache = Cache::Hot;  ///< mode perf
};
using PlannedGroup = std::vector<PlannedRow>;

/// The rows of a run of `cases`: a case of mode both has two rows, accuracy first; a timed case of cache both
/// has two, hot first; with `versus` each row comes a second time with the other version of the shaders. The
/// rows of a group are consecutive. Throws Error when two rows would have the same id.
std::vector<PlannedGroup> plan_rows(std::span<const Case* const> cases, std::optional<Mode> mode,
                                    bool versus = false);

/// The row's id: its case's id, followed by "/cold" for a cold row and by "/versus" for a row with the other
/// version of the shaders.
std::string row_id(const PlannedRow& row);

/// Names that rows have in addition to their case.
struct RowNames {
  std::optional<std::string> shaders;  ///< folder of the run's own shaders
  std::optional<std::string> versus;   ///< folder of the other version's
};

/// The row as reports describe it, without its baseline.
RowInfo row_info(const PlannedRow& row, const RowNames& names);

/// "local_size=64 tile_m=32"; empty: nothing is set.
std::string tune_text(const Tune& tune);

/// The words of a row that expectations match. They refer to `info`, which must outlive them.
RowWords words_of(const RowInfo& info);

/// The row with which another row is compared.
struct Baseline {
  bool wanted = false;             ///< the row is to be compared
  std::optional<std::size_t> row;  ///< index in the group; absent: the group has none
};

/// The baseline of each row of a group. The baseline of a row with the other version of the shaders is the
/// same row with the run's own shaders. With `impl`, the baseline of each perf row of another impl is the row
/// of that impl in the same forms (of several the one with the same tuning and name). With both, each row
/// with the other version is compared with the row of that impl with the run's own shaders.
std::vector<Baseline> choose_baselines(const PlannedGroup& group, const std::string& impl);

/// The rows of these groups with the other version of the shaders, and of the rows with the run's own shaders
/// only those that serve as their baselines (choose_baselines).
std::vector<PlannedGroup> versus_rows_alone(std::span<const PlannedGroup> groups, const std::string& impl);

/// All rows as reports describe them, each with its baseline (choose_baselines).
std::vector<RowInfo> plan_of(std::span<const PlannedGroup> groups, const RowNames& names,
                             const std::string& baseline_impl);

// Divides a run's rows among several runs. Groups stay whole: their rows share data and a reference, and are
// compared with each other.

/// One of `count` parts of a run.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;
};

/// Estimated cost of each group when none was measured: its number of rows, with timed rows counting several
/// times.
std::vector<double> guessed_costs(std::span<const PlannedGroup> groups);

/// Indices of the shard's groups, ascending. The most expensive group goes to the shard with the lowest cost
/// so far, and so on (longest processing time first: at most a third above the optimum). `costs` has one
/// entry per group, in any unit. Groups of equal cost are dealt out in turn. All shards that are given the
/// same costs compute the same division.
std::vector<std::size_t> balanced(std::span<const double> costs, const Shard& shard);

/// The description of a shard that has the groups `taken`, as its run records it.
ShardInfo shard_info(std::span<const PlannedGroup> groups, const Shard& shard,
                     std::span<const std::size_t> taken);

/// Hash of the ids and modes of all rows.
std::string plan_hash(std::span<const PlannedGroup> groups);

/// The cases that have rows in the shard, in the order of `cases`; `groups` is the plan made from `cases`.
/// Throws Error when it is not the plan that was divided.
std::vector<const Case*> cases_of_shard(std::span<const Case* const> cases,
                                        std::span<const PlannedGroup> groups, const ShardInfo& shard);

}  // namespace assay
