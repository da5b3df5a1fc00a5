#include "harness/report/devices/pivot.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/read/report.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace assay::cli {
namespace {

std::vector<std::string> columns_of_figures() {
  std::vector<std::string> columns;
  for (const PivotFigure& figure : pivot_figures()) columns.emplace_back(figure.column);
  return columns;
}

void declare_pivot(CLI::App& app, app::PivotOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  const CLI::Option* csv =
      app.add_option("--csv", options.csv, "Write the table of times as CSV to this file (- for stdout)");
  const CLI::Option* markdown = app.add_option("--markdown", options.markdown,
                                               "Write the tables as Markdown to this file (- for stdout)");
  refuse_one_place(app, {csv, markdown});
  app.add_option("--figure", options.figure,
                 "Compare this column of perf.csv, in text and Markdown; the CSV has all of them")
      ->check(CLI::IsMember(columns_of_figures()))
      ->capture_default_str();
  app.add_flag("--all", options.all, "Also print rows that only one device has");
  app.add_flag("--hashes", options.hashes,
               "Compare the hashes of exact outputs instead; the exit code is 1 if any differ")
      ->excludes("--figure");
}

}  // namespace

void add_pivot(Commands& commands) {
  commands.add<app::PivotOptions>(
      "pivot", "Print the reports of several devices side by side", declare_pivot,
      [](const app::PivotOptions& options, const Context&) { return app::pivot(options, terminal()); });
}

}  // namespace assay::cli
