#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/report/record/record.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The rows that a run could have had in addition to those in its report.
struct RuleScope {
  /// Rows of the loaded cases that were not planned: left out by a filter, a tier, a mode or a shard.
  std::vector<RowInfo> left_out;
  /// Whether the run had only some cases (a filter, op, impl or mode was given): rules that match none of
  /// these are not noted then.
  bool is_narrowed = false;
  /// Whether every case that a rule of this file may match was loaded. Empty: all were, for every file.
  std::function<bool(const std::string& expectation_file)> has_all_cases;
};

/// The expectation files of a run, one line each; if there are none, the places that were searched.
std::string expectations_lines(std::span<const std::filesystem::path> files);

/// Rows of `cases` that are not in the report.
std::vector<RowInfo> rows_left_out(std::span<const Case> cases, const RunReport& report);

/// The rules of the run's device that need a review, in their order:
///
/// - expired: its last day has passed.
/// - stale: it has no effect. It matches no row, earlier rules match all of its rows, or all of its rows
///   ended without running (UNSUPPORTED, INVALID, SKIPPED); a rule that leaves rows out is stale if it has
///   left out none. The note on a rule that matches no row names the nearest ids.
///
/// A rule is not called stale if it matches a row that was left out or not reached (MISSING, INTERRUPTED), or
/// may match one of a case file that was not loaded. A rule that matches no row at all is ignored if the run
/// was narrowed.
std::vector<RuleNote> rule_notes(const Expectations& expectations, const RunReport& report,
                                 const RuleScope& scope);

}  // namespace assay::app
