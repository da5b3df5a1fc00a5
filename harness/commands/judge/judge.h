#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/judge/options.h"

#include <functional>

namespace assay::app {

/// `assay judge`: judges whether submitted shaders are right, how their times compare with a baseline's, and
/// whether these results can be trusted (docs/judge.md). Prints the judgement on `terminal.out`, and as JSON
/// if asked. Returns Fine if trusted, else Failures. Throws Error(Usage) if the submission cannot be judged.
/// Once `stop_requested` is true the running row ends, and no further row is run.
ExitCode judge(const JudgeOptions& options, const Context& context, const Terminal& terminal,
               const std::function<bool()>& stop_requested = {});

}  // namespace assay::app
