#include "harness/report/record/exit_code.h"

#include "harness/base/status.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

bool any(const RunReport& report, StatusClass wanted) {
  return std::ranges::any_of(report.records,
                             [&](const Record& record) { return class_of(record.status) == wanted; });
}

bool was_judged(const Record& record) {
  return record.status == Status::Pass || record.status == Status::ExpectedFail;
}

}  // namespace

ExitCode exit_code(const RunReport& report, bool strict) {
  if (any(report, StatusClass::Infrastructure)) return ExitCode::Infrastructure;
  if (strict && !report.run.rule_notes.empty()) return ExitCode::Failures;
  if (any(report, StatusClass::Failing)) return ExitCode::Failures;
  // A shard's rows are not chosen by the user: they may all be INVALID. The merged report decides.
  const bool is_fine = report.run.shard.is_part() || std::ranges::any_of(report.records, was_judged);
  return is_fine ? ExitCode::Fine : ExitCode::Usage;
}

ExitCode exit_code_of_both(ExitCode a, ExitCode b) {
  constexpr std::array order{ExitCode::Infrastructure, ExitCode::Failures, ExitCode::Usage, ExitCode::Fine};
  return std::min(a, b, [&](ExitCode one, ExitCode other) {
    return std::ranges::find(order, one) < std::ranges::find(order, other);
  });
}

}  // namespace assay
