#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

namespace assay::app {

/// The process that `assay mutate` starts to try faults: reads a TrialSetup and TrialRequests from stdin and
/// writes TrialNews to stdout, until stdin ends. A fault may crash or hang it.
ExitCode serve_trials(const Context& context);

}  // namespace assay::app
