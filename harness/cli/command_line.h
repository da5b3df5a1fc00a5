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

/// Parses a command line "assay", "run", ...; `options` are the values of the options that it does not give.
/// Throws Error(Usage).
app::RunOptions parse_run(const std::vector<std::string>& command, app::RunOptions options = {});

}  // namespace assay::cli
