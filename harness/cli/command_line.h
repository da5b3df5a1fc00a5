#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/run_options.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::cli {

/// Parses the command line and returns a function that runs the subcommand it names; `context` must outlive
/// it. Prints help, the version and usage errors; the returned function then only returns the exit code.
/// Throws Error(Usage) if there is no such subcommand.
std::function<ExitCode()> parse(int argc, char** argv, const app::Context& context);

/// Parses a command line "assay", "run", ... Throws Error(Usage).
app::RunOptions parse_run(const std::vector<std::string>& command);

/// The command line of an attempt to resume a run: the run's own, `before`, which its journal has, changed by
/// the options that are given `now` with --resume. Options that start programs or write outside of the run's
/// folder come from `now` alone. Throws Error(Usage) that names them if `before` has some that `now` has not.
std::vector<std::string> resumed_command(const std::vector<std::string>& before,
                                         const std::vector<std::string>& now);

}  // namespace assay::cli
