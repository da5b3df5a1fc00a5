#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/read/runs_over_time.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_trend(CLI::App& app, app::TrendOptions& options) {
  app.add_option("reports", options.reports, runs_help)->required();
  CLI::Option* days = app.add_option("--days", options.question.days,
                                     "Show changes of this many days before the newest night, or --until")
                          ->check(CLI::Range(1, 36500))
                          ->capture_default_str();
  app.add_option("--since", options.question.since,
                 "Show changes after the last night on or before this date")
      ->excludes(days);
  app.add_option("--until", options.question.until,
                 "Show changes up to the last night on or before this date");
  app.add_flag("--all", options.all, "List every change, not only the ten largest of a night");
  app.add_option("--csv", options.csv, "Write the changes as CSV to this file instead (- for stdout)");
}

}  // namespace

void add_trend(Commands& commands) {
  commands.add<app::TrendOptions>(
      "trend", "Print what became slower or faster over many nights, and since when", declare_trend,
      [](const app::TrendOptions& options, const Context&) { return app::trend(options, terminal()); });
}

}  // namespace assay::cli
