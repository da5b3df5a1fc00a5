#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/read/report.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_summary(CLI::App& app, app::SummaryOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  app.add_option("--model", options.models,
                 "Print the cost of a step of these models on each device (names or globs; repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--layers", options.layers, "Also print the layers of each step");
  const CLI::Option* csv = app.add_option("--csv", options.csv,
                                          "Write the layers of all steps as CSV to this file (- for stdout)");
  const CLI::Option* markdown =
      app.add_option("--markdown", options.markdown,
                     "Write the steps and their layers as Markdown to this file (- for stdout)");
  refuse_one_place(app, {csv, markdown});
}

}  // namespace

void add_summary(Commands& commands) {
  commands.add<app::SummaryOptions>(
      "summary", "Print reports on one screen, or the cost of a model's step as the sum over its layers",
      declare_summary,
      [](const app::SummaryOptions& options, const Context&) { return app::summary(options, terminal()); });
}

}  // namespace assay::cli
