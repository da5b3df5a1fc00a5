#pragma once

#include "harness/commands/run_options.h"

#include <CLI/App.hpp>

namespace assay::cli {

/// Adds the options of `assay run`. All of them are in the journal, as part of the command line of the run;
/// whoever needs them (a worker process, `assay merge`) parses that command line with parse_run(), and
/// --resume makes another one of it with resumed_command() (command_line.h).
void declare_run(CLI::App& app, app::RunOptions& options);

}  // namespace assay::cli
