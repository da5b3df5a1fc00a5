#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/record/run_report.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Lists of a night's report end here, and say how many more there are: a device that is lost as its night
/// begins has as many rows to tell of as were planned.
inline constexpr std::size_t most_listed_rows = 1000;

/// A row that failed, or was lost.
struct FailedRow {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;
  std::string repro;  ///< one line that runs the case again
};

/// What a night's report says of a device's run. Much smaller than the run's records.
struct RunDigest {
  RunInfo run;
  bool complete = false;
  bool cut_off = false;
  std::size_t rows = 0;
  std::map<Status, std::size_t> statuses;
  std::vector<FailedRow> failures;  ///< those that never ran last
  std::size_t failures_left_out = 0;
  double rows_s = 0;  ///< sum of the rows' wall times

  /// Of one class of statuses.
  std::size_t count(StatusClass wanted) const;
};
RunDigest digest_of(const RunReport& report);

/// What a night's report says of a device's run beside its last good one.
struct ComparisonDigest {
  RunInfo base;               ///< the last good night's run
  bool cross_device = false;  ///< it was on another device: speed has no verdict
  std::map<Verdict, std::size_t> totals;
  std::size_t without_verdict = 0;
  std::vector<RowVerdict> rows;  ///< all but SAME, worst first
  std::size_t rows_left_out = 0;
  /// Rows that are right on both sides with other bits in their outputs: of exact outputs, whose reference
  /// must have changed, and of those that have a bound.
  std::size_t changed_exact = 0, changed_bounded = 0;
};
ComparisonDigest digest_of(const RunComparison& comparison);

}  // namespace assay
