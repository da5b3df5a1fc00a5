#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <vector>

namespace assay {

/// What a journal tells of a run so far: all that any report is made of.
struct RunReport {
  RunInfo run;
  std::vector<Record> records;     ///< one a planned row, in the plan's order
  bool complete = false;           ///< the run came to its end
  bool cut_off = false;            ///< the journal's last line was cut off by a kill
  std::size_t lines_left_out = 0;  ///< of a damaged journal, see salvage_journal()
};

}  // namespace assay
