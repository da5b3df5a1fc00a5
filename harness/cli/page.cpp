#include "harness/commands/farm/page.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_page(CLI::App& app, app::PageOptions& options) {
  app.add_option("out", options.out, "HTML file to write (- for stdout)")->required();
  app.add_option("reports", options.reports,
                 "Output folders (all runs in them), folders of a run or of a device, or journals, from any "
                 "number of devices and nights; may be left out with --faults");
  app.add_option(
         "--base", options.base,
         "A report to compare the newest run of each device with (repeatable; default: the previous run)")
      ->allow_extra_args(false);
  app.add_option("--night", options.night,
                 "The folder of a night with its verdict: the page opens with that, and compares the night's "
                 "reports as `assay verdict` did");
  app.add_option("--faults", options.faults,
                 "A folder of `assay mutate`: its kill matrix is a section of the page");
  add_run_noise(app, options.run_noise,
                "File of how much two runs of a device differ, as for `compare` and `verdict`");
}

}  // namespace

void add_page(Commands& commands) {
  commands.add<app::PageOptions>(
      "page", "Write one HTML file that shows devices, ops and nights", declare_page,
      [](const app::PageOptions& options, const Context&) { return app::page(options, terminal()); });
}

}  // namespace assay::cli
