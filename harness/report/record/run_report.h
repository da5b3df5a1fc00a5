#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <vector>

namespace assay {

/// The content of a run's journal so far: the source of every report.
struct RunReport {
  RunInfo run;
  std::vector<Record> records;     ///< one per planned row, in the plan's order
  bool complete = false;           ///< the run ended normally
  bool cut_off = false;            ///< the journal's last line was cut off by a kill
  std::size_t lines_left_out = 0;  ///< lines of a damaged journal that were not read, see salvage_journal()
};

}  // namespace assay
