#pragma once

#include "harness/cases/load.h"
#include "harness/cases/select.h"
#include "harness/core/op.h"
#include "harness/report/console.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// What every subcommand is given.
struct Context {
  const Registry& registry;
  std::vector<std::string> command_line;
  std::function<int()> chosen;  ///< set by the subcommand that was named; returns the exit code
};

// One a file: adds the subcommand to `app`; `context` outlives the parse.
void add_run(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_ops(CLI::App& app, Context& context);
void add_schema(CLI::App& app, Context& context);
void add_devices(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);

/// Which cases: the options that `run` and `list` share.
struct CaseOptions {
  std::vector<std::filesystem::path> files;
  std::string filter;
  std::vector<std::string> impls;
  std::vector<std::string> ops;
  std::vector<std::string> tiers;
  std::string mode;
  std::optional<std::uint64_t> seed;

  void add_to(CLI::App& app);
  /// The paths asked for, else the folder of cases (below the current directory, else beside the binary).
  /// Throws Error when there is none.
  std::vector<std::filesystem::path> paths() const;
  Selection selection() const;
};

/// Loads the cases and prints what is wrong with them on stderr.
LoadResult load_and_complain(const CaseOptions& options, const Registry& registry);

/// What the terminal and NO_COLOR (no-color.org) allow.
ConsoleOptions console_options(bool verbose);

/// The folder that holds the binary.
std::filesystem::path binary_directory();

}  // namespace assay::cli
