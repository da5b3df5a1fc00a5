#pragma once

#include "harness/app/context.h"
#include "harness/app/judge/options.h"
#include "harness/app/worker.h"
#include "harness/base/error.h"

#include <functional>

namespace assay::app {

/// `assay judge`: whether shaders that somebody else has written are right, how their times compare with a
/// baseline's, and whether that can be trusted (docs/judge.md). Prints it on `terminal.out`, and as JSON
/// where that is asked for. Fine: trusted; Failures: not. Throws Error(Usage) for what cannot be judged. Once
/// `stop_requested` is true the row that runs comes to its end, and the others are not run.
ExitCode judge(const JudgeOptions& options, const Context& context, const ParseRun& parse,
               const Terminal& terminal, const std::function<bool()>& stop_requested = {});

}  // namespace assay::app
