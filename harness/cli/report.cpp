#include "harness/commands/read/report.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_report(CLI::App& app, app::ReportOptions& options) {
  app.add_option("report", options.report, report_help)->required();
  CLI::Option* rewrite = app.add_option(
      "--rewrite-journal", options.rewritten_journal,
      "Write the journal in this version's schema to this file, compressed if it ends in .zst");
  app.add_flag("--salvage", options.salvage,
               "Skip damaged lines of the journal and list them: their rows are MISSING")
      ->excludes(rewrite);
  add_github_summary(app, options.github_summary);
  add_benchmark_flag(app, options.benchmark_console);
}

}  // namespace

void add_report(Commands& commands) {
  commands.add<app::ReportOptions>(
      "report", "Rewrite the reports from their journal, and print the summary", declare_report,
      [](const app::ReportOptions& options, const Context&) { return app::report(options, terminal()); });
}

}  // namespace assay::cli
