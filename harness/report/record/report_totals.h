#pragma once

#include "harness/base/error.h"
#include "harness/report/record/record.h"

#include <optional>
#include <string>

namespace assay {

/// The exit code of a run: Infrastructure if any case ended in an infrastructure status, else Failures if any
/// failed, else Usage if no case was judged at all (PASS or EXPECTED_FAIL), else Fine. `strict`: an expired
/// or stale rule of the expectations counts as a failure.
ExitCode exit_code(const RunReport& report, bool strict = false);

/// The exit code of a run on two devices, from each device's: Infrastructure, else Failures, else Usage, else
/// Fine.
ExitCode exit_code_of_both(ExitCode a, ExitCode b);

/// Where the wall time of a run's timed rows went, in s.
struct TimeTotals {
  double rows_s = 0;       ///< the whole time
  double submitted_s = 0;  ///< timed submissions, warm-up and heating included
  double heating_s = 0;    ///< part of submitted_s
  double judging_s = 0;
  double filling_s = 0;
  double resting_s = 0;

  double other_s() const { return rows_s - submitted_s - judging_s - filling_s - resting_s; }
};

/// Totals over the timed rows whose records have them; nullopt if there is none.
std::optional<TimeTotals> time_totals(const RunReport& report);

/// "312 s in timed rows: 85 % submissions (19 % of all to heat the device), 6 % checking ..."
std::string time_line(const TimeTotals& totals);

}  // namespace assay
