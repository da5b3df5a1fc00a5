#include "harness/report/record/report_totals.h"

#include "harness/base/clock.h"
#include "harness/base/status.h"
#include "harness/base/text.h"

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

void add(TimeTotals& totals, const Record& record) {
  const TimeSpent& spent = *record.spent;
  totals.rows_s += record.total_ms / ms_per_s;
  totals.submitted_s += record.perf->submitted_ms / ms_per_s;
  totals.heating_s += spent.heating_ms / ms_per_s;
  totals.judging_s += spent.judging_ms / ms_per_s;
  totals.filling_s += spent.filling_ms / ms_per_s;
  totals.resting_s += spent.resting_ms / ms_per_s;
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

std::optional<TimeTotals> time_totals(const RunReport& report) {
  TimeTotals totals;
  for (const Record& record : report.records) {
    if (record.spent && record.perf) add(totals, record);
  }
  return totals.rows_s > 0 ? std::optional(totals) : std::nullopt;
}

std::string time_line(const TimeTotals& totals) {
  const auto share = [&](double seconds, const char* what) {
    return fixed(100 * std::max(seconds, 0.0) / totals.rows_s, 0) + " % " + what;
  };
  return fixed(totals.rows_s, totals.rows_s < 10 ? 1 : 0) +
         " s in timed rows: " + share(totals.submitted_s, "submissions") + " (" +
         share(totals.heating_s, "of all to heat the device") + "), " +
         share(totals.judging_s, "checking outputs") + ", " + share(totals.filling_s, "filling memory") +
         ", " + share(totals.resting_s, "letting the device cool down") + ", " +
         share(totals.other_s(), "other");
}

}  // namespace assay
