#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Lists of a night's report are cut at this length, with a count of the rest: on a device that is lost at
/// the start of a night, every planned row has failed.
inline constexpr std::size_t most_listed_rows = 1000;

/// A row that failed or was lost.
struct FailedRow {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;
  std::string repro;  ///< command that runs the case again
};

/// The part of a device's run that a night's report shows. Much smaller than the run's records.
struct RunDigest {
  RunInfo run;
  bool complete = false;
  bool cut_off = false;
  std::size_t rows = 0;
  std::map<Status, std::size_t> statuses;
  std::vector<FailedRow> failures;  ///< rows that never ran come last
  std::size_t failures_left_out = 0;
  double rows_s = 0;  ///< sum of the rows' wall times

  /// The number of rows in a class of statuses.
  std::size_t count(StatusClass wanted) const;
};
RunDigest digest_of(const RunReport& report);

/// The part of the comparison with the last good run that a night's report shows.
struct ComparisonDigest {
  RunInfo base;               ///< the last good night's run
  bool cross_device = false;  ///< that run was on another device: speed gets no verdict
  std::map<Verdict, std::size_t> totals;
  std::size_t without_verdict = 0;
  std::vector<RowVerdict> rows;  ///< all but SAME, worst first
  std::size_t rows_left_out = 0;
  /// Rows that are right on both sides with different bits in their outputs: rows with exact outputs, whose
  /// reference must have changed, and rows with bounded outputs.
  std::size_t changed_exact = 0, changed_bounded = 0;
};
ComparisonDigest digest_of(const RunComparison& comparison);

}  // namespace assay
