#include "harness/commands/export/export.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_export(CLI::App& app, app::ExportOptions& options) {
  app.add_option("reports", options.reports, runs_help)->required();
  CLI::Option* sqlite = app.add_option("--sqlite", options.sqlite,
                                       "Write an SQLite database with the tables of docs/export.md");
  app.add_flag("--overwrite", options.overwrite, "Replace the database if the file exists")->needs(sqlite);
  CLI::Option* openmetrics = app.add_option("--openmetrics", options.openmetrics,
                                            "Write OpenMetrics text to this file (- for stdout), with times");
  app.add_flag(
         "--newest", options.newest,
         "Of the metrics: only the newest run of each device, without times, as Prometheus scrapes them")
      ->needs(openmetrics);
}

}  // namespace

void add_export(Commands& commands) {
  commands.add<app::ExportOptions>("export", "Write runs as an SQLite database, or as OpenMetrics text",
                                   declare_export, [](const app::ExportOptions& options, const Context&) {
                                     return app::export_reports(options, terminal());
                                   });
}

}  // namespace assay::cli
