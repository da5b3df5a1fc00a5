#include "harness/commands/tune/tune.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/stop_signal.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>
#include <string>

namespace assay::cli {
namespace {

void declare_tune(CLI::App& app, app::TuneOptions& options) {
  app.add_option("files", options.cases.files, "Case files or folders (default: cases)");
  add_op_folders(app, options.cases.op_folders);
  app.add_option("--op", options.cases.ops, "Only timed cases of this op (a name or glob; repeatable)")
      ->allow_extra_args(false);
  app.add_option("--impl", options.cases.impls,
                 "Only timed cases that name this impl (a name or glob; repeatable)")
      ->allow_extra_args(false);
  app.add_option("--filter", options.cases.filter, "Only timed cases whose ids match, as for `run`");
  app.add_option("--budget", options.seconds,
                 "How long to search: 90s, 10m, 2h; confirming what was found takes up to half as long again")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME"))
      ->check(positive_number(most_seconds))
      ->default_str("10m");
  app.add_option("--out", options.out, "The tuning file (default: tuning/<device>.yaml)");
  app.add_flag("--overwrite", options.overwrite,
               "Allow an --out that exists: the entries whose points are all measured again are replaced, "
               "the others kept");
  app.add_option("--row-budget", options.row_seconds,
                 "Sampling budget of a candidate, in seconds; three times as much to confirm it")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option(
         "--exhaustive", options.exhaustive_up_to,
         "Time all candidates of a point if they are no more than this; with more, a coordinate search "
         "chooses")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  app.add_option("--tunable", options.tunables,
                 "Search this tunable only (repeatable); the others keep their defaults")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed, "Seed of the coordinate search")
      ->check(whole_number(0, most_exact))
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "Device to run on: index, UUID or part of the name (default: the best)");
  add_ceilings(app, options.ceilings,
               "The device's ceilings, by which impossible times are found: 'stored', 'measure' or 'none'");
  app.add_option("--csv", options.csv, "Write every candidate that was timed as CSV to this file");
  app.add_option("--table", options.table,
                 "Tune nothing: show how the coordinate search and a random one do on such a CSV file, which "
                 "--csv and a large --exhaustive make")
      ->check(CLI::ExistingFile);
  app.add_option("--hang-limit", options.hang_limit_s,
                 "Seconds without output after which a worker is killed")
      ->check(positive_number(most_seconds))
      ->capture_default_str();
  app.add_option(
         "--inject-fault", options.injected_faults,
         "KIND@GLOB: see `run`, to test that a candidate that crashes or hangs costs itself; repeatable")
      ->allow_extra_args(false);
  app.add_flag("-v,--verbose", options.verbose, "Also print the output of its runs");
  app.footer(
      "Exit code: 0 the file is written, without entries if nothing is clearly better than the built-in "
      "defaults; 1 some point is wrong with the built-in defaults, a candidate was left out because it "
      "failed, "
      "or no file is written, as nothing was searched and confirmed or the search was stopped before; 2 "
      "wrong "
      "options; 3 the machine failed; 77 no Vulkan device.");
}

ExitCode tune(const app::TuneOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr
        << "\nstopping after the row that is running, and writing what was confirmed; another signal, a "
           "second or more later, stops immediately\n";
  });  // before Vulkan starts threads of its own
  return app::tune(options, context, terminal(), [&] { return stop.requested(); });
}

}  // namespace

void add_tune(Commands& commands) {
  commands.add<app::TuneOptions>("tune", "Search the values of tunables that are best on a device",
                                 declare_tune, tune);
}

}  // namespace assay::cli
