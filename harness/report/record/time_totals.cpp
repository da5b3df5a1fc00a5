#include "harness/report/record/time_totals.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"

#include <algorithm>

namespace assay {
namespace {

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
