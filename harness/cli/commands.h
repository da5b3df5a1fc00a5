#pragma once

// What a command does is in harness/app, which is given plain structs and streams; a command that only prints
// stands here, in a file of its own. arguments.h is what each takes.

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
  std::string device;  ///< for what depends on one: as an entry of RunOptions::devices; empty: none
};

struct DevicesOptions {
  std::vector<std::string> devices;     ///< as RunOptions::devices; empty: all
  bool ceilings = false;                ///< measure what they reach, and print it
  std::filesystem::path ceiling_store;  ///< as RunOptions
  bool json = false;                    ///< for scripts
};

struct OpsOptions {
  std::string name;       ///< empty: all
  bool markdown = false;  ///< all, as docs/ops.md
};

// Each returns the exit code.
int run(const app::RunOptions& options, const Context& context);
int judge(const app::JudgeOptions& options, const Context& context);
int list(const ListOptions& options, const Context& context);
int ops(const OpsOptions& options, const Context& context);
int schema(const Context& context);
int devices(const DevicesOptions& options);

/// Parses the command line into the subcommand that it names; the result runs it. Help, the version and usage
/// errors are printed here and give a function that only returns the exit code.
std::function<int()> parse(int argc, char** argv, const Context& context);

/// The options of a command line "assay", "run", ... Throws Error(Usage).
app::RunOptions parse_run(const std::vector<std::string>& command);

/// stdout and stderr, in colour as the terminal and NO_COLOR (no-color.org) allow.
app::Terminal terminal();

}  // namespace assay::cli
