#pragma once

// Commands are implemented in harness/app, which takes plain structs and streams. A command that only prints
// is implemented here, in a file of its own. arguments.h declares the arguments of each.

#include "harness/app/context.h"
#include "harness/app/judge/options.h"
#include "harness/app/run_options.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay::cli {

using app::Context;

struct ListOptions {
  app::CaseOptions cases;
  bool details = false;
  std::string device;  ///< whose choices `details` shows; as an entry of RunOptions::devices; empty: none
};

struct DevicesOptions {
  std::vector<std::string> devices;     ///< as RunOptions::devices; empty: all
  bool ceilings = false;                ///< measure the devices' ceilings and print them
  std::filesystem::path ceiling_store;  ///< as RunOptions::ceiling_store
  bool json = false;                    ///< print JSON, for scripts
};

struct OpsOptions {
  std::string name;       ///< empty: all
  bool markdown = false;  ///< print all ops in the format of docs/ops.md
};

// Each returns the exit code.
int run(const app::RunOptions& options, const Context& context);
int judge(const app::JudgeOptions& options, const Context& context);
int list(const ListOptions& options, const Context& context);
int ops(const OpsOptions& options, const Context& context);
int schema(const Context& context);
int devices(const DevicesOptions& options);

/// Parses the command line and returns a function that runs the subcommand it names. Help, the version and
/// usage errors are printed here; the returned function then only returns the exit code.
std::function<int()> parse(int argc, char** argv, const Context& context);

/// Parses a command line "assay", "run", ... Throws Error(Usage).
app::RunOptions parse_run(const std::vector<std::string>& command);

/// Returns stdout and stderr, in colour where the terminal and NO_COLOR (no-color.org) allow it.
app::Terminal terminal();

}  // namespace assay::cli
