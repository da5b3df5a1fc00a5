#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expectations.h"
#include "harness/report/record/run_report.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// What a run could have had rows of, beside those of its report.
struct RuleScope {
  /// Rows of the loaded cases that were not planned: left out by a filter, a tier, a mode or a shard.
  std::vector<RowInfo> left_out;
  /// Whether the run is a look at some cases (a filter, op, impl or mode was named): rules that have nothing
  /// to do with them are no matter then.
  bool is_narrowed = false;
  /// Whether every case that a rule of this file may be about was loaded. Empty: it was so for every file.
  std::function<bool(const std::string& expectation_file)> has_all_cases;
};

/// Which files of expectations a run has, a line each; where there are none, where they were looked for.
std::string expectations_lines(std::span<const std::filesystem::path> files);

/// Rows of `cases` that are not in the report.
std::vector<RowInfo> rows_left_out(std::span<const Case> cases, const RunReport& report);

/// The rules of the run's device that are to be looked at again, in their order:
///
/// - expired: its last day is over.
/// - stale: it says nothing. No row is its own (none that it matches, or rules before it take them all), or
///   all of its rows ended without running (UNSUPPORTED, INVALID, SKIPPED); a rule that leaves rows out is
///   stale when it has left out none. One that matches no row names the nearest ids.
///
/// A run can tell only of what it saw. A rule is not called stale when it matches a row that was left out or
/// not reached (MISSING, INTERRUPTED), or may match one of a case file that was not loaded. One that matches
/// no row at all is not looked at when the run was narrowed.
std::vector<RuleNote> rule_notes(const Expectations& expectations, const RunReport& report,
                                 const RuleScope& scope);

}  // namespace assay::app
