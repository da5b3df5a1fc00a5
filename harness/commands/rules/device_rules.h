#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/commands/run_options.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// How a row failed, as one of failure_metrics(); empty unless it is FAIL or MISTRUSTED. `accuracy` (null: no
/// answer was checked) is the row's result.
std::string_view failure_metric(Status status, const AccuracyResult* accuracy,
                                std::int64_t validation_messages);

/// The end of a row that a rule matches: EXPECTED_FAIL if it ended in one of the rule's statuses and metrics,
/// UNEXPECTED_PASS (without a time) if it passed although the rule expects a failure, else unchanged.
RowEnd as_expected(RowEnd end, const Expectation& rule, const AccuracyResult* accuracy);

/// Judges the rows of a stored report again by these rules, as if the run had had them and no others. Rows
/// that a rule left out (SKIPPED) stay so. A row that passed against a rule that is gone has lost its time.
void expect_again(RunReport& report, const Expectations& expectations);

/// What is wrong with a rule that is too wide, and to what it can be narrowed, as a sentence; empty if it is
/// not. `rows` are the rows to which it applies. It is too wide if some of them pass and others fail as
/// expected, or if some give a wrong answer and others fail otherwise although it has no metric.
std::string narrower_rule(const Expectation& rule, std::span<const Record* const> rows);

/// The rows that a run could have had in addition to those in its report.
struct RuleScope {
  /// Rows of the loaded cases that were not planned: left out by a filter, a tier, a mode or a shard.
  std::vector<RowInfo> left_out;
  /// Whether the run had only some cases (a filter, op, impl or mode was given): rules that match none of
  /// these are not noted then.
  bool is_narrowed = false;
  /// Whether a narrowed run would have selected the rows that a rule seems to be about; see rule_covers().
  std::function<bool(const Expectation&)> covers;
  /// Whether every case that a rule of this file may match was loaded. Empty: all were, for every file.
  std::function<bool(const std::string& expectation_file)> has_all_cases;
};

/// The expectation files of a run, one line each; if there are none, the places that were searched.
std::string expectations_lines(std::span<const std::filesystem::path> files);

/// Lines about the files of rules whose `device` is in the name of none of the run's devices; empty: none.
std::string unused_files_lines(const Expectations& expectations, std::span<const std::string> device_names);

/// Whether a run that is narrowed to some cases covers what a rule says it is about: the options would select
/// a row whose id is the rule's glob.
bool rule_covers(const CaseOptions& options, const Expectation& rule);

/// Rows of `cases` that are not in the report.
std::vector<RowInfo> rows_left_out(std::span<const Case> cases, const RunReport& report);

/// The rules of the run's device that need a review, in their order:
///
/// - expired: its last day has passed.
/// - stale: it has no effect. It matches no row, earlier rules match all of its rows, or all of its rows
///   ended without running (UNSUPPORTED, INVALID, SKIPPED); a rule that leaves rows out is stale if it has
///   left out none. The note on a rule that matches no row names the nearest ids.
///
/// - wide: it expects a failure, and some of its rows pass, or they fail in different ways. The note says to
/// what
///   it can be narrowed.
///
/// A rule is not called stale if it matches a row that was left out or not reached (MISSING, INTERRUPTED), or
/// may match one of a case file that was not loaded. A rule that matches no row at all is ignored if the run
/// was narrowed, unless the selection covers it.
std::vector<RuleNote> rule_notes(const Expectations& expectations, const RunReport& report,
                                 const RuleScope& scope);

}  // namespace assay::app
