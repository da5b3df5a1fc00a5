#pragma once

#include "harness/commands/context.h"
#include "harness/report/record/record.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::app {

/// How a command runs rows for its own purposes.
struct QuietRun {
  std::string purpose;          ///< begins the error where several devices are chosen: "judging a submission"
  double memory_limit_gib = 0;  ///< for each worker; 0: none
  bool verbose = false;         ///< the run's log is shown
  bool may_leave_shaders_unused = false;  ///< see RunOptions::Attempt
};

/// Runs the command line "assay", "run", ... on one device, without its output for people, and returns its
/// report. Throws Error as run_once() does, and Error(Usage) if not exactly one device is chosen.
RunReport quiet_run(const QuietRun& how, const std::vector<std::string>& words, Context context,
                    const Terminal& terminal, const std::function<bool()>& must_stop);

}  // namespace assay::app
