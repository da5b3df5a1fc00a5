#pragma once

#include "harness/report/record/record.h"

#include <optional>
#include <string>

namespace assay {

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
