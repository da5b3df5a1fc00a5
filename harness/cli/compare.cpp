#include "harness/commands/read/compare.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_compare(CLI::App& app, app::CompareOptions& options) {
  app.add_option("runs", options.runs, std::string("BASE NEW, each: ") + report_help)->expected(0, 2);
  app.add_option("--base", options.base,
                 "A run for the base side (repeatable: the runs of a side are pooled)")
      ->allow_extra_args(false);
  app.add_option("--new", options.next, "A run for the new side (repeatable: the runs of a side are pooled)")
      ->allow_extra_args(false);
  app.add_flag("--all", options.all, "Print every row, not only those that are not SAME");
  app.add_flag("--new-and-gone", options.new_and_gone,
               "List the rows that are NEW or GONE too, not only their number");
  app.add_option("--explain", options.explain,
                 "Explain how one row was compared (an id, a glob over ids, or a part of one id)");
  const CLI::Option* csv =
      app.add_option("--csv", options.csv, "Write every row as CSV to this file (- for stdout)");
  const CLI::Option* json = app.add_option(
      "--json", options.json, "Write every row with its blocks as JSON to this file (- for stdout)");
  const CLI::Option* markdown =
      app.add_option("--markdown", options.markdown,
                     "Write the rows that are not SAME as Markdown to this file (- for stdout)");
  refuse_one_place(app, {csv, json, markdown});
  app.add_option("--fail-on", options.fail_on,
                 "Changes that make the exit code 1, separated by commas, or 'none'")
      ->capture_default_str();
  app.add_option("--min-effect", options.smallest_effect_pct,
                 "Minimum difference in percent for FASTER or SLOWER")
      ->check(positive_number(1000))
      ->capture_default_str();
  app.add_flag(
      "--judge-same-programs", options.judge_same_programs,
      "Allow SLOWER and FASTER for rows of the same program too, instead of ENVIRONMENT; a shift of the "
      "machine is then reported, but not taken out");
  app.add_flag(
      "--allow-tuning", options.allow_tuning,
      "Compare rows that have the defaults of a tuning file with rows that have not, such as a run with "
      "--tuning none");
  add_run_noise(app, options.run_noise,
                "File of how much two runs of a device differ, written by --keep-run-noise or "
                "scripts/farm/false_alarms.sh: with one run per side, smaller differences are not FASTER or "
                "SLOWER (default: up to 3 %)");
  app.add_option("--keep-run-noise", options.keep_run_noise,
                 "Add how much these two runs differ in rows of the same program to this file");
}

}  // namespace

void add_compare(Commands& commands) {
  commands.add<app::CompareOptions>(
      "compare", "Compare two runs row by row", declare_compare,
      [](const app::CompareOptions& options, const Context&) { return app::compare(options, terminal()); });
}

}  // namespace assay::cli
