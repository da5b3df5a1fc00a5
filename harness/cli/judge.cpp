#include "harness/commands/judge/judge.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/stop_signal.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace assay::cli {
namespace {

void add_judged_rows(CLI::App& app, app::JudgeOptions& options) {
  CLI::Option* ops =
      app.add_option("--op", options.ops,
                     "Ops to judge by (names or globs; repeatable; default: all that use the shaders)")
          ->allow_extra_args(false);
  app.add_option(
         "--filter", options.filter,
         "Ids to judge by, of every tier and size: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest")
      ->excludes(ops);
  add_op_folders(app, options.op_folders);
  app.add_option("--cases", options.cases,
                 "Case files or folders of them; repeatable (default: as for `run`)")
      ->allow_extra_args(false);
  app.add_option("--rows", options.rows,
                 "Number of rows per stage, drawn at random; at least one of each op that is judged")
      ->check(whole_number(1, 10000))
      ->capture_default_str();
  app.add_option("--secret-seed", options.secret_seed,
                 "Seed of the secret data, which no shader can know (default: random)")
      ->check(whole_number(1, most_exact));
  app.add_option("--draw-seed", options.draw_seed,
                 "Seed for drawing rows and the shapes of fuzzed cases (default: random)")
      ->check(whole_number(1, most_exact));
}

void add_judge_limits(CLI::App& app, app::JudgeOptions& options) {
  app.add_option("--budget", options.budget_s, "Sampling budget of a timed row, in seconds")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit_s,
                 "Seconds after which no further row starts; the verdict is then incomplete")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--hang-limit", options.hang_limit_s,
                 "Seconds without output after which the worker is killed")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option("--memory-limit", options.memory_limit_gib,
                 "GiB of memory that the worker may use for data; 0: no limit")
      ->check(number(0, 1e6))
      ->capture_default_str();
  add_ceilings(app, options.ceilings, "As for `run`; with 'none' no time can be SUSPECT for its speed");
}

void declare_judge(CLI::App& app, app::JudgeOptions& options) {
  app.add_option("submission", options.submission,
                 "Folder of GLSL files, named as in shaders/ of the source tree; those that differ from "
                 "assay's own are judged")
      ->required();
  CLI::Option* baseline =
      app.add_option("--baseline", options.baseline,
                     "Folder of GLSL files to compare times with (default: assay's own shaders)")
          ->check(CLI::ExistingDirectory);
  app.add_option("--baseline-impl", options.baseline_impl,
                 "Compare times with this impl of assay's own shaders")
      ->excludes(baseline);
  app.add_option(
      "--json", options.json,
      "Write the verdict as JSON to this file; '-': to stdout, with no other output (docs/judge.md)");
  app.add_option("--out", options.out,
                 "Folder for all output, which goes to OUT/<id>/ and includes judge.json")
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "Device to run on: index, UUID or part of the name (default: the best)");
  add_judged_rows(app, options);
  add_judge_limits(app, options);
  app.add_flag("-v,--verbose", options.verbose, "Also print the output of its runs");
  app.footer(
      "Exit code: 0 right in all rows, timed and trusted; 1 wrong, distrusted or incomplete, or a shader "
      "does not compile; 2 there is nothing to judge: no such folder, no shader in it that a selected case "
      "runs, or nothing selected; 3 the machine failed; 77 no Vulkan device.");
}

ExitCode judge(const app::JudgeOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr << "\nstopping after the row that is running; another signal, a second or more later, stops "
                 "immediately\n";
  });  // before Vulkan starts threads of its own
  return app::judge(options, context, terminal(), [&] { return stop.requested(); });
}

}  // namespace

void add_judge(Commands& commands) {
  commands.add<app::JudgeOptions>(
      "judge", "Judge submitted shaders: are they right, how fast, and can they be trusted", declare_judge,
      judge);
}

}  // namespace assay::cli
