#include "harness/commands/run/output/expected_rows.h"

#include "harness/commands/rules/expected_end.h"
#include "harness/engine/run/planned_rows.h"

#include <utility>

namespace assay::app {

ExpectedRows::ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next)
    : ForwardedEvents(next), expectations_(expectations), device_name_(std::move(device_name)) {}

void ExpectedRows::plan(std::span<const RowInfo> rows) {
  for (const RowInfo& row : rows) rules_.push_back(expectations_.find(device_name_, words_of(row)));
  ForwardedEvents::plan(rows);
}

/// A row that begins again for its next turn keeps its result; one that starts over is judged again.
void ExpectedRows::judged(RowIndex row, const AccuracyResult& accuracy) {
  if (rules_.at(row) != nullptr) judged_.insert_or_assign(row, accuracy);
  ForwardedEvents::judged(row, accuracy);
}

void ExpectedRows::end(RowIndex row, const RowEnd& end) {
  const Expectation* rule = rules_.at(row);
  if (rule == nullptr) return ForwardedEvents::end(row, end);
  const auto judged = judged_.find(row);
  ForwardedEvents::end(row, as_expected(end, *rule, judged == judged_.end() ? nullptr : &judged->second));
  judged_.erase(row);
}

/// Rows that were not reached do not count: time was up, or this limit was reached.
void FailureLimit::count(Status status) {
  if (class_of(status) == StatusClass::Failing || status == Status::DeviceLost) ++failed_;
}

void CountedFailures::end(RowIndex row, const RowEnd& end) {
  limit_.count(end.status);
  ForwardedEvents::end(row, end);
}

}  // namespace assay::app
