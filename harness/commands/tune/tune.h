#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/tune/options.h"

#include <functional>

namespace assay::app {

/// `assay tune`: searches the tunables of the impls of timed cases, and writes what is faster than the
/// built-in defaults as a tuning file (docs/tuning.md). Returns Failures if a point's defaults are wrong or
/// have no time. Throws Error.
ExitCode tune(const TuneOptions& options, const Context& context, const Terminal& terminal,
              const std::function<bool()>& stop_requested);

}  // namespace assay::app
