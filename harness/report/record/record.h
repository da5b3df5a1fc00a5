#pragma once

#include "harness/base/status.h"
#include "harness/report/record/accuracy_result.h"
#include "harness/report/record/chain_plan.h"
#include "harness/report/record/perf_result.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/row_info.h"
#include "harness/report/record/run_info.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// How one planned case ended.
struct Record {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;             ///< a sentence with numbers, for every status but PASS
  std::string retry;              ///< see RowEnd
  std::string driver_retry;       ///< see RowEnd
  bool stopped = false;           ///< see RowEnd
  std::optional<OwnEnd> own_end;  ///< EXPECTED_FAIL and UNEXPECTED_PASS: the end without the rule
  std::optional<AccuracyResult>
      accuracy;                    ///< mode accu, once judged; a perf row has the result of its judged output
  std::optional<PerfResult> perf;  ///< mode perf, PASS only: a wrong kernel has no time
  std::optional<ChainPlan> chain;  ///< chains, once planned
  std::optional<Comparison> comparison;  ///< mode perf, if the run compares it with another row
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< the distinct ones, at most 100, oldest first
  std::string repro;                          ///< one line that runs this case again
  double total_ms = 0;             ///< wall time of the row, without making its group's data and reference
  std::optional<TimeSpent> spent;  ///< mode perf, once timed
};

/// The content of a run's journal so far: the source of every report.
struct RunReport {
  RunInfo run;
  std::vector<Record> records;     ///< one per planned row, in the plan's order
  bool complete = false;           ///< the run ended normally
  bool cut_off = false;            ///< the journal's last line was cut off by a kill
  std::size_t lines_left_out = 0;  ///< lines of a damaged journal that were not read, see salvage_journal()
};

}  // namespace assay
