#include "harness/commands/mutate/mutate.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/stop_signal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

namespace assay::cli {
namespace {

constexpr std::uint64_t most_faults = 1'000'000;

void add_choice(CLI::App& app, app::MutateOptions::Choice& choice) {
  app.add_option("shaders", choice.shaders,
                 "Files below shaders/ that get faults: names, paths or globs (default: all)");
  app.add_option("--cases", choice.cases, "Case files or folders of them; repeatable (default: as for `run`)")
      ->allow_extra_args(false);
  CLI::Option* folder =
      app.add_option("--shaders", choice.folder, "Folder of GLSL files that replace assay's own")
          ->check(CLI::ExistingDirectory);
  app.add_option("--ops", choice.op_folder, "Folder of an op.yaml: its kernels get the faults, its cases run")
      ->check(CLI::ExistingDirectory)
      ->excludes(folder);
  app.add_option("--seed", choice.seed, "Seed of the order in which faults are tried")
      ->check(whole_number(0, most_exact))
      ->capture_default_str();
  app.add_option("--limit", choice.per_file, "Number of faults drawn per file; 0: all")
      ->check(whole_number(0, most_faults))
      ->capture_default_str();
  app.add_option("--since", choice.since,
                 "Only lines of the folder of --shaders (default: shaders) that changed since this commit");
  app.add_option("--shard", choice.shard, "I/N: the I-th of N parts of the faults");
  app.add_option("--rows", choice.rows, "Largest number of rows that run for a fault")
      ->check(whole_number(1, most_faults))
      ->capture_default_str();
}

/// An option whose folder's journal decides other options, which cannot be given with it.
struct Decides {
  const CLI::Option* option;
  std::vector<const CLI::Option*> others;
};

void refuse_others(const Decides& by) {
  if (by.option->count() == 0) return;
  for (const CLI::Option* other : by.others) {
    if (other->count() == 0) continue;
    throw CLI::ValidationError(
        by.option->get_name(),
        fmt::format("a run keeps the choice that it was started with, so {} cannot be given; for another "
                    "choice start another run with --out",
                    other->get_name()));
  }
}

/// The options that are declared, without --help.
std::vector<const CLI::Option*> declared_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr()) options.push_back(option);
  }
  return options;
}

void declare_mutate(CLI::App& app, app::MutateOptions& options) {
  add_choice(app, options.choice);
  const std::vector<const CLI::Option*> choice = declared_options(app);
  CLI::Option* resume = app.add_option("--resume", options.resume,
                                       "Finish the run in this folder; what it was about is taken from there")
                            ->check(CLI::ExistingDirectory);
  const CLI::Option* merge =
      app.add_option("--merge", options.merge,
                     "Folders of the shards of a run: write their one matrix to --out, and try nothing")
          ->check(CLI::ExistingDirectory)
          ->excludes(resume);
  const CLI::Option* out =
      app.add_option("--out", options.out, "Folder for faults.jsonl, kill_matrix.csv and faults.md")
          ->capture_default_str();
  std::vector<const CLI::Option*> choice_and_out = choice;
  choice_and_out.push_back(out);
  app.parse_complete_callback([by = std::array{Decides{resume, choice_and_out}, Decides{merge, choice}}] {
    std::ranges::for_each(by, refuse_others);
  });
  app.add_option("--equivalent", options.equivalent,
                 "List of faults that no row can show (default: equivalent.yaml in the folder of shaders)")
      ->check(CLI::ExistingFile);
  app.add_option("--jobs", options.jobs, "Number of processes that try faults; 0: one per thread of the CPU")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  app.add_option("--budget", options.budget_s, "Seconds after which no further fault is tried; 0: no limit")
      ->check(number(0, most_seconds))
      ->capture_default_str();
  app.add_option("--hang-limit", options.hang_limit_s, "Seconds after which a row counts as hanging")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--least", options.least, "Lowest score, in percent, whose exit code is 0")
      ->check(number(0, 100))
      ->capture_default_str();
  app.add_flag("--list", options.only_list, "Print the faults instead of trying them");
  app.footer(
      "Exit code: 0 every fault that changes an answer was killed, or as many as --least says, or there was "
      "none to try in the shard or in the lines that changed since the commit of --since; 1 too many "
      "survived, or the list of equivalent faults is wrong; 2 the shaders have no line that can have a "
      "fault, or no fault was tried; 3 the machine failed; 77 no Vulkan device of type cpu.");
}

ExitCode mutate(const app::MutateOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr << "\nstopping; another signal, a second or more later, stops immediately\n";
  });  // before Vulkan starts threads of its own
  return app::mutate(options, context, terminal(), [&] { return stop.requested(); });
}

}  // namespace

void add_mutate(Commands& commands) {
  commands.add<app::MutateOptions>(
      "mutate", "Put one-line faults into the shaders: do the cases detect them?", declare_mutate, mutate);
}

}  // namespace assay::cli
