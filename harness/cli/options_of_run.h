#pragma once

#include "harness/app/run_options.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::cli {

/// Adds the options of `assay run`. All of them are in the journal, as part of the command line of the run;
/// whoever needs them (a worker process, --resume, `assay merge`) parses that command line with parse_run().
void declare_run(CLI::App& app, app::RunOptions& options);

/// Parses a command line "assay", "run", ...; `options` are the values of the options that it does not give.
/// Throws Error(Usage).
app::RunOptions parse_run(const std::vector<std::string>& command, app::RunOptions options = {});

}  // namespace assay::cli
