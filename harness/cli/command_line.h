#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <functional>

namespace assay::cli {

/// Parses the command line and returns a function that runs the subcommand it names; `context` must outlive
/// it. Prints help, the version and usage errors; the returned function then only returns the exit code.
/// Throws Error(Usage) if there is no such subcommand.
std::function<ExitCode()> parse(int argc, char** argv, const app::Context& context);

}  // namespace assay::cli
