#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/commands/run_options.h"
#include "harness/report/record/record.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::app {

/// The state that is kept between runs of a selection with --watch: the devices, and the folder of the
/// reports.
struct Session {
  /// Throws Error(Usage) if the folder of --out cannot be used; nothing is created or opened yet.
  explicit Session(const RunOptions& options);

  RunFolder folder;
  std::unique_ptr<RunDevices> devices;  ///< opened by the first run that has something to run
};

/// The result of running a selection once.
struct RunOutcome {
  ExitCode code = ExitCode::Fine;
  std::vector<RunReport> reports;            ///< one per device
  std::vector<std::filesystem::path> files;  ///< case and expectation files that the selection depends on
  bool interrupted = false;                  ///< a stop was requested before all rows had ended
  std::size_t failure_limit = 0;  ///< the limit of failures that stopped the run; 0: it was stopped by a user
};

/// Loads the cases, selects, runs on every device and writes the reports. `stop_requested` (may be empty;
/// once true it must stay true) is called before each row and each block of samples: after a stop, the
/// remaining rows are recorded as MISSING, the row that was being timed as INTERRUPTED, and the journals have
/// no `done`. The run also stops once `options.max_failures` rows have failed, but then the remaining rows do
/// not count as failures of the machine: `code` is that of the rows that have ended. Throws Error.
RunOutcome run_once(const RunOptions& options, const Context& context, Session& session,
                    const Terminal& terminal, const std::function<bool()>& stop_requested = {});

/// Checks a run's options and loads its files as run_once() does, without a device, and prints how many rows
/// it would have. Returns Usage if a file has errors. Throws Error.
ExitCode dry_run(const RunOptions& options, const Context& context, Session& session,
                 const Terminal& terminal);

/// The last line of an interrupted run: "interrupted: 3 of 12 rows ended; ...".
std::string interrupted_line(const RunOutcome& outcome);

/// How a command runs rows for its own purposes.
struct QuietRun {
  std::string purpose;          ///< begins the error where several devices are chosen: "judging a submission"
  double memory_limit_gib = 0;  ///< for each worker; 0: none
  bool verbose = false;         ///< the run's log is shown
  bool may_leave_shaders_unused = false;  ///< see RunOptions::Attempt
  bool may_leave_faults_unmet = false;    ///< likewise
};

/// Runs the command line "assay", "run", ... on one device, without its output for people, and returns its
/// report. Throws Error as run_once() does, and Error(Usage) if not exactly one device is chosen.
RunReport quiet_run(const QuietRun& how, const std::vector<std::string>& words, Context context,
                    const Terminal& terminal, const std::function<bool()>& must_stop);

}  // namespace assay::app
