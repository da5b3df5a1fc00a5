#include "harness/commands/run/output/expected_rows.h"

#include "harness/engine/run/planned_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace assay::app {

namespace {

std::string names_of(const std::vector<Status>& statuses) {
  std::vector<std::string_view> names;
  for (const Status status : statuses) names.push_back(name_of(status));
  return fmt::format("{}", fmt::join(names, " or "));
}

/// An unexpected pass gets no time, so that it is noticed.
RowEnd unexpected_pass(RowEnd end, const Expectation& rule) {
  end.status = Status::UnexpectedPass;
  end.reason = fmt::format("it passes, but {}:{} expects {} ({}); remove the rule", rule.where.file,
                           rule.where.line, names_of(rule.statuses), rule.why());
  end.perf.reset();
  return end;
}

}  // namespace

RowEnd as_expected(RowEnd end, const Expectation& rule) {
  if (rule.kind != Expectation::Kind::Fail) return end;
  if (end.status == Status::Pass) return unexpected_pass(std::move(end), rule);
  if (!rule.expects(end.status)) return end;
  end.reason = rule.statuses.size() == 1 && end.status == Status::Fail
                   ? fmt::format("expected ({}): {}", rule.why(), end.reason)
                   : fmt::format("expected ({}): {}: {}", rule.why(), name_of(end.status), end.reason);
  end.status = Status::ExpectedFail;
  return end;
}

ExpectedRows::ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next)
    : ForwardedEvents(next), expectations_(expectations), device_name_(std::move(device_name)) {}

void ExpectedRows::plan(std::span<const RowInfo> rows) {
  for (const RowInfo& row : rows) rules_.push_back(expectations_.find(device_name_, words_of(row)));
  ForwardedEvents::plan(rows);
}

void ExpectedRows::end(RowIndex row, const RowEnd& end) {
  const Expectation* rule = rules_.at(row);
  ForwardedEvents::end(row, rule != nullptr ? as_expected(end, *rule) : end);
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
