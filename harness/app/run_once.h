#pragma once

#include "harness/app/context.h"
#include "harness/app/run_devices.h"
#include "harness/app/run_folder.h"
#include "harness/app/run_options.h"
#include "harness/base/error.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::app {

/// What stays from one run of a selection to the next when a person watches: the devices, and the folder of
/// the reports.
struct Session {
  /// Throws Error(Usage) when the folder of --out cannot be taken; nothing is made or opened yet.
  explicit Session(const RunOptions& options);

  RunFolder folder;
  std::unique_ptr<RunDevices> devices;  ///< opened by the first run that has something to run
};

/// What running a selection once gave.
struct RunOutcome {
  ExitCode code = ExitCode::Fine;
  std::vector<RunReport> reports;            ///< one a device
  std::vector<std::filesystem::path> files;  ///< case and expectation files that the selection depends on
  bool interrupted = false;                  ///< a stop was requested before all rows had ended
  std::size_t failure_limit = 0;             ///< by so many failures; 0: by somebody
};

/// Loads the cases, selects, runs on every device and writes the reports. `stop_requested` (may be empty;
/// once true it must stay true) is asked before each row and each block of samples: the rows that are left
/// are recorded as MISSING then, the row that was being timed as INTERRUPTED, and the journals stay
/// open-ended. The same once `options.max_failures` rows have failed, but that what is left is no failure of
/// the machine: `code` is that of the rows that have ended. Throws Error.
RunOutcome run_once(const RunOptions& options, const Context& context, Session& session,
                    const Terminal& terminal, const std::function<bool()>& stop_requested = {});

/// "interrupted: 3 of 12 rows came to their end; ...", the last line of a run that was.
std::string interrupted_line(const RunOutcome& outcome);

}  // namespace assay::app
