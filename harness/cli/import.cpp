#include "harness/commands/import/import.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_import(CLI::App& app, app::ImportOptions& options) {
  app.add_option(
         "file", options.file,
         "Times that something else took: CSV with a header, or a JSON array of objects, with `us`, `id` or "
         "`op` and `shape`, and if you like `cache` and `source`")
      ->required();
  app.add_option("--as", options.name,
                 "What was measured, such as 'PyTorch 2.11'; reports show it as a device")
      ->required();
  app.add_option("--rows", options.rows,
                 "The report with the rows that these times are of. " + std::string(report_help))
      ->required();
  app.add_option("--out", options.out, "Output folder of the report")->capture_default_str();
}

}  // namespace

void add_import(Commands& commands) {
  commands.add<app::ImportOptions>(
      "import", "Write a report of times that something else took, to be compared with", declare_import,
      [](const app::ImportOptions& options, const Context& context) {
        return app::import_times(options, context, terminal());
      });
}

}  // namespace assay::cli
