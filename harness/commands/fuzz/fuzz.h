#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/fuzz/options.h"

#include <functional>

namespace assay::app {

/// `assay fuzz`: draws points of the ops' own spaces, runs them, and makes each failure that it finds a small
/// case file (docs/fuzz.md). Returns Failures if it found one. Throws Error.
ExitCode fuzz(const FuzzOptions& options, const Context& context, const Terminal& terminal,
              const std::function<bool()>& stop_requested);

}  // namespace assay::app
