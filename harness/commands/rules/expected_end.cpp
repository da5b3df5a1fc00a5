#include "harness/commands/rules/expected_end.h"

#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/record_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace assay::app {
namespace {

/// "FAIL (wrong_value) or CRASH"
std::string expected_by(const Expectation& rule) {
  std::vector<std::string> names;
  for (const Status status : rule.statuses) {
    const bool has_metric = status == Status::Fail || status == Status::Mistrusted;
    names.emplace_back(name_of(status));
    if (has_metric && !rule.metrics.empty())
      names.back() += fmt::format(" ({})", fmt::join(rule.metrics, " or "));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

/// An unexpected pass gets no time, so that it is noticed.
RowEnd unexpected_pass(RowEnd end, const Expectation& rule) {
  end.own_end = OwnEnd{end.status, end.reason};
  end.status = Status::UnexpectedPass;
  end.reason = fmt::format(
      "it passes, but {}:{} expects {} ({}); remove the rule, or narrow it to the rows "
      "that still fail",
      rule.where.file, rule.where.line, expected_by(rule), rule.why());
  end.perf.reset();
  return end;
}

}  // namespace

std::string_view failure_metric(Status status, const AccuracyResult* accuracy,
                                std::int64_t validation_messages) {
  if (status != Status::Fail && status != Status::Mistrusted) return "";
  if (accuracy == nullptr) return no_answer;
  if (!accuracy->metric.empty()) return accuracy->metric;
  return validation_messages > 0 ? layer_messages : later_run;
}

RowEnd as_expected(RowEnd end, const Expectation& rule, const AccuracyResult* accuracy) {
  if (rule.kind != Expectation::Kind::Fail) return end;
  if (end.status == Status::Pass) return unexpected_pass(std::move(end), rule);
  if (!rule.expects(end.status, failure_metric(end.status, accuracy, end.validation_messages))) return end;
  end.own_end = OwnEnd{end.status, end.reason};
  end.reason = rule.statuses.size() == 1 && end.status == Status::Fail
                   ? fmt::format("expected ({}): {}", rule.why(), end.reason)
                   : fmt::format("expected ({}): {}: {}", rule.why(), name_of(end.status), end.reason);
  end.status = Status::ExpectedFail;
  return end;
}

void expect_again(RunReport& report, const Expectations& expectations) {
  for (Record& record : report.records) {
    RowEnd end = end_of(record);
    if (end.own_end) {
      end.status = end.own_end->status;
      end.reason = end.own_end->reason;
      end.own_end.reset();
    }
    const Expectation* rule = expectations.find(report.run.device.name, words_of(record.info));
    if (rule != nullptr)
      end = as_expected(std::move(end), *rule, record.accuracy ? &*record.accuracy : nullptr);
    record.status = end.status;
    record.reason = std::move(end.reason);
    record.own_end = std::move(end.own_end);
    record.perf = std::move(end.perf);
  }
}

}  // namespace assay::app
