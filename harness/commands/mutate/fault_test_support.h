#pragma once

#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/trial_worker.h"

#include <string>

namespace assay::app {

/// A fault in line 7 of "a.comp" that ended so.
inline FaultRecord fault_record(const std::string& id, FaultEnd end, std::vector<Kill> kills = {}) {
  return {.fault = {.id = id,
                    .file = "a.comp",
                    .line = 7,
                    .column = 3,
                    .kind = "bound_off_by_one",
                    .before = "<",
                    .after = "<=",
                    .line_hash = "11223344"},
          .result = {.id = id, .end = end, .kills = std::move(kills), .rows_ran = 5}};
}

inline Kill kill_by(const std::string& row) {
  return {.row = row, .how = "wrong_value", .word = "shifted"};
}

/// The part of a shell script, in place of a worker, that says this.
inline std::string said(const TrialNews& news) {
  const std::string line = line_of(news);
  return "echo '" + line.substr(0, line.size() - 1) + "'; ";
}

}  // namespace assay::app
