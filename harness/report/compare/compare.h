#pragma once

#include "harness/report/compare/machine_shift.h"
#include "harness/report/compare/row_verdict.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Geometric means over the rows of one op and impl (both empty: all rows) that have a ratio: of the new
/// side's time divided by the base's, and of its share of the ceiling divided by the base's.
struct GeometricMean {
  std::string op;
  std::string impl;
  std::string cache;  ///< "cold", else empty
  double ratio = 1;
  std::size_t rows = 0;
  std::size_t significant = 0;  ///< rows that are significant, see RowVerdict
  double peak_ratio = 0;        ///< 0: unknown for every row
  std::size_t peak_rows = 0;
};

/// Two sides of runs, row by row.
struct RunComparison {
  std::vector<RunReport> base, next;  ///< without their records
  bool cross_device = false;          ///< each side has one device, and these differ
  std::vector<RowVerdict>
      rows;  ///< in the plan's order of the base, then the rows that only the new side has
  /// One per device that both sides have, ordered by its key. None with two devices.
  std::vector<MachineShift> machines;
  std::vector<GeometricMean> means;  ///< by op and impl, in the order of the rows
  GeometricMean mean_of_all;         ///< over the rows of all these means
  /// Expected number of rows of equal speed whose blocks are completely separated by chance: an upper bound
  /// of false FASTER and SLOWER, which need a large enough effect as well. Sum of RowVerdict::chance.
  double expected_separations = 0;
  std::size_t judged = 0;  ///< number of rows in that sum
  /// False if rows with one run on a side were judged without known run noise of the device.
  bool knows_run_noise = true;

  std::map<Verdict, std::size_t> totals() const;
  std::size_t without_verdict() const;
};

/// The runs of one side, pooled row by row; takes far less memory than their records.
struct PooledRuns {
  struct Row {
    std::size_t run = 0;  ///< index of the last run that has the row
    RowSide side;
  };

  std::vector<RunReport> runs;  ///< without their records
  std::size_t records = 0;      ///< number of their records
  std::vector<Row> rows;        ///< in the plan's order
};
PooledRuns pool_side(std::vector<RunReport> reports);

/// Throws Error(Usage) if both sides hold one run of a device.
void refuse_run_on_both_sides(const PooledRuns& base, const PooledRuns& next);

/// Compares the runs of two sides. Rows are matched if device, id, mode and cache are equal; the runs of one
/// side are pooled. If each side has one device and these differ, rows are matched by id, mode and cache, and
/// speed gets no verdict. `noise` is the known noise between runs of these devices, which counts if a side
/// has only one run; if it is unknown, CompareOptions::between_runs_pct counts. Throws Error(Usage) if the
/// sides have no row in common, one side holds a run twice, runs are of kinds whose answers cannot be
/// compared (have_comparable_answers()), or, unless CompareOptions::allow_tuning, a row has other defaults of
/// a tuning file in some runs than in others.
RunComparison compare_runs(PooledRuns base, PooledRuns next, CompareOptions options = {},
                           const RunNoise& noise = {});
RunComparison compare_runs(std::vector<RunReport> base, std::vector<RunReport> next,
                           CompareOptions options = {}, const RunNoise& noise = {});

/// The pairs of runs in a comparison with one run per side, one per device. Rows of different programs, rows
/// whose clock probes explain the difference, and a run compared with itself do not count.
std::vector<RunPair> run_pairs_of(const RunComparison& comparison);

/// A case that names no impl runs `auto` where the op has it; before that was so it ran the op's first impl,
/// and the impl is the last part of an id. Of a case whose only row went and whose only new row runs `auto`,
/// this adds to the reasons of GONE and NEW that both are the same case under another impl, and which row is
/// the other one.
void explain_default_impls(std::span<RowVerdict> rows);

/// Up to this many rows that are BROKEN are listed like other rows; more are grouped.
inline constexpr std::size_t most_single_broken = 3;

/// Whether rows that are BROKEN are grouped.
bool has_broken_groups(const RunComparison& comparison);

/// The rows that are BROKEN, grouped by how they fail now; `FailureGroup::rows` are places in
/// RunComparison::rows. Empty if they are not grouped.
std::vector<FailureGroup> broken_groups(const RunComparison& comparison);

/// The groups for a terminal, three lines each, and how to list their rows. Empty if there is none.
std::string broken_groups_text(const RunComparison& comparison, bool color);

/// The groups as a list in Markdown.
std::string broken_groups_markdown(const RunComparison& comparison);

}  // namespace assay
