#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <string_view>

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

}  // namespace assay::app
