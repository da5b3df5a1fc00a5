#pragma once

// CLI11 is heavy to compile: command_line.cpp alone sees it. Subcommands get plain structs.

#include "harness/cases/load.h"
#include "harness/cases/select.h"
#include "harness/op/op.h"
#include "harness/report/console/console.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// What every subcommand is given.
struct Context {
  const Registry& registry;
  std::vector<std::string> command_line;
};

/// Which cases: the options that `run` and `list` share.
struct CaseOptions {
  std::vector<std::filesystem::path> files;
  std::string filter;
  std::vector<std::string> impls;
  std::vector<std::string> ops;
  std::vector<std::string> tiers;
  std::string mode;
  std::optional<std::uint64_t> seed;

  /// The paths asked for, else the folder of cases (below the current directory, else beside the binary).
  /// Throws Error when there is none.
  std::vector<std::filesystem::path> paths() const;
  Selection selection() const;
};

struct RunOptions {
  CaseOptions cases;
  std::vector<std::string> devices;
  std::string expect_device;
  std::filesystem::path out = "assay-out";
  std::filesystem::path shaders;
  std::filesystem::path versus_shaders;
  std::string baseline_impl;
  std::filesystem::path dump;
  double budget_s = 1;
  double injected_slowdown_pct = 0;
  std::string ceilings = "stored";  ///< "stored", "measure" or "none"
  bool validation = false;
  bool watch = false;
  bool verbose = false;
  bool benchmark_console = false;
};

struct ListOptions {
  CaseOptions cases;
  bool details = false;
};

struct ReportOptions {
  std::filesystem::path folder;
  std::filesystem::path rewritten_journal;  ///< empty: none is written
  bool benchmark_console = false;
};

struct ShowOptions {
  std::filesystem::path report;  ///< a journal, a device's folder, or a folder that holds one of them
  std::string id;                ///< an id, a glob over ids, or a part of one
  bool samples = false;
};

struct PivotOptions {
  std::vector<std::filesystem::path>
      reports;                     ///< as ShowOptions::report, a folder stands for all its devices
  std::filesystem::path csv;       ///< file to write; "-": stdout; empty: none
  std::filesystem::path markdown;  ///< likewise; stdout when nothing else is asked for
  bool hashes = false;
};

struct DevicesOptions {
  std::vector<std::string> devices;  ///< as RunOptions::devices; empty: all
  bool ceilings = false;             ///< measure what they reach, and print it
};

struct CompareRunsOptions {
  std::vector<std::filesystem::path> runs;        ///< base and new, unless these are named one by one:
  std::vector<std::filesystem::path> base, next;  ///< as PivotOptions::reports
  std::filesystem::path csv, json, markdown;      ///< files to write; "-": stdout; empty: none
  std::string explain;                            ///< an id, a glob over ids, or a part of one; empty: none
  std::string fail_on = "slower,broken,gone";     ///< names of verdicts, or "none"
  double smallest_effect_pct = 1;
  bool judge_same_programs = false;
  bool all = false;
};

struct NewOpOptions {
  std::string name;
  std::filesystem::path root = ".";  ///< the source tree
};

// One a file. Each returns the exit code.
int run(const RunOptions& options, const Context& context);
int list(const ListOptions& options, const Context& context);
int ops(const std::string& name, const Context& context);
int schema(const Context& context);
int new_op(const NewOpOptions& options, const Context& context);
int devices(const DevicesOptions& options);
int report(const ReportOptions& options);
int show(const ShowOptions& options);
int pivot(const PivotOptions& options);
int compare(const CompareRunsOptions& options);

/// Parses the command line into the subcommand that it names; the result runs it. Help, the version and usage
/// errors are printed here and give a function that only returns the exit code.
std::function<int()> parse(int argc, char** argv, const Context& context);

/// Loads the cases and prints what is wrong with them on stderr.
LoadResult load_and_complain(const CaseOptions& options, const Registry& registry);

/// Prints the summary of a run, then, when asked, its times in Google Benchmark's own words.
void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console);

/// What the terminal and NO_COLOR (no-color.org) allow.
ConsoleOptions console_options(bool verbose);

/// The folder that holds the binary.
std::filesystem::path binary_directory();

}  // namespace assay::cli
