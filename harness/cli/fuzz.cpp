#include "harness/commands/fuzz/fuzz.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/stop_signal.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace assay::cli {
namespace {

void declare_fuzz(CLI::App& app, app::FuzzOptions& options) {
  app.add_option("op", options.ops, "Ops (names or globs; default: those of --ops, else all)");
  add_op_folders(app, options.op_folders);
  app.add_option("--seconds", options.seconds, "How long points are drawn and run")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--points", options.points, "How many points are drawn at most (default: no limit)")
      ->check(whole_number(1, most_exact));
  app.add_option("--seed", options.seed,
                 "Seed of the points: equal seeds draw the same ones (default: random)")
      ->check(whole_number(0, most_exact));
  app.add_flag("--keep-going", options.keep_going,
               "Look for other kinds of failure after the first; one is another kind if its op, impl, status "
               "or metric is");
  app.add_option("--shrink-seconds", options.shrink_seconds, "How long a failure is made smaller, at most")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "Device to run on: index, UUID or part of the name (default: the best)");
  app.add_option("--shaders", options.shaders,
                 "Folder of GLSL files that replace the embedded ones, as for `run`; one must be used")
      ->check(CLI::ExistingDirectory);
  app.add_option("--out", options.out, "Folder for the cases that are found, in OUT/<id>/")
      ->capture_default_str();
  app.add_option("--hang-limit", options.hang_limit_s,
                 "Seconds without output after which a worker is killed")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--memory-limit", options.memory_limit_gib,
                 "GiB of memory that a worker may use for data; 0: no limit")
      ->check(number(0, 1e6))
      ->capture_default_str();
  app.add_flag("-v,--verbose", options.verbose, "Also print the output of its runs");
  app.footer(
      "Exit code: 0 no failure found; 1 a failure; 2 wrong options, no point passed or failed, or none used "
      "a "
      "file of --shaders; 3 the machine failed; 77 no Vulkan device.");
}

ExitCode fuzz(const app::FuzzOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr << "\nstopping after the row that is running; another signal, a second or more later, stops "
                 "immediately\n";
  });  // before Vulkan starts threads of its own
  return app::fuzz(options, context, terminal(), [&] { return stop.requested(); });
}

}  // namespace

void add_fuzz(Commands& commands) {
  commands.add<app::FuzzOptions>(
      "fuzz", "Run points that no case file has, and shrink failures to small cases", declare_fuzz, fuzz);
}

}  // namespace assay::cli
