#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/run_options.h"
#include "harness/commands/stop_signal.h"

namespace assay::app {

/// Runs, then watches the case files and the folders of shaders, runs again whenever a file is saved, and
/// prints what changed; all rounds write into one run folder. Ends on a stop request, or if the device is
/// lost; returns the exit code of the last run.
ExitCode watch(const RunOptions& options, const Context& context, const Terminal& terminal, StopSignal& stop);

}  // namespace assay::app
