#pragma once

#include "harness/cases/expectation.h"
#include "harness/cases/select.h"
#include "harness/op/roofline.h"
#include "harness/report/record/record.h"

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

/// The rows that a run of `cases` has: a case of mode both is two, accuracy first; a timed one of cache both
/// is two, hot first; with `versus` each comes once more, with the other version of the shaders. A group's
/// rows stand together. Throws Error when two rows would have one id.
std::vector<PlannedGroup> plan_rows(std::span<const Case* const> cases, std::optional<Mode> mode,
                                    bool versus = false);

/// The row's id: its case's, that of a cold one with "/cold" behind it, that of one with the other version of
/// the shaders with "/versus".
std::string row_id(const PlannedRow& row);

/// What rows are called beside their case.
struct RowNames {
  std::optional<std::string> shaders;  ///< folder of the run's own shaders
  std::optional<std::string> versus;   ///< folder of the other version's
};

/// The row in the words of its reports, but for its baseline.
RowInfo row_info(const PlannedRow& row, const RowNames& names);

/// What expectations match of it. The words are in `info`, which must outlive them.
RowWords words_of(const RowInfo& info);

/// The row that each is held against.
struct Baseline {
  bool wanted = false;             ///< the row is to be compared
  std::optional<std::size_t> row;  ///< index in the group; absent: the group has none
};

/// For each row of a group: with the other version of the shaders, the same row with the run's own; with
/// `impl`, each row of mode perf of another impl, the row of that impl in the same forms (of several the one
/// with the same tuning and name). With both, each row with the other version is held against the row of that
/// impl with the run's own.
std::vector<Baseline> choose_baselines(const PlannedGroup& group, const std::string& impl);

/// Of these groups the rows with the other version of the shaders, and of those with the run's own no more
/// than such a row is held against (choose_baselines).
std::vector<PlannedGroup> versus_rows_alone(std::span<const PlannedGroup> groups, const std::string& impl);

/// All rows in the words of their reports, each with its baseline (choose_baselines).
std::vector<RowInfo> plan_of(std::span<const PlannedGroup> groups, const RowNames& names,
                             const std::string& baseline_impl);

}  // namespace assay
