#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/mutate/options.h"

#include <functional>

namespace assay::app {

/// Puts one-line faults into shaders, one at a time, and runs accuracy rows until two of them show the fault.
/// Writes faults.jsonl as it goes, then kill_matrix.csv and faults.md; with `merge` it writes those of a run
/// whose shards were tried. Returns Failures if a fault survived
/// or the list of equivalent faults is wrong. Throws Error.
ExitCode mutate(const MutateOptions& options, const Context& context, const Terminal& terminal,
                const std::function<bool()>& stop_requested);

}  // namespace assay::app
