#include "harness/commands/farm/verdict.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_verdict(CLI::App& app, app::VerdictOptions& options) {
  app.add_option("night", options.night,
                 "The night's folder (the --out of its runs); nightly.json and verdict.txt are written there")
      ->required();
  app.add_option("--last-good", options.last_good,
                 "Folder of links to the report of each device in its last good night; the links of devices "
                 "that are good move to this night (default: last-good next to the night)");
  app.add_option("--keep-last-good", options.kept_links,
                 "Leave the link of this device (the name of its folder, or all) as it is (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--expect-slug", options.expected,
                 "A device that must have a report, by the name of its folder; repeatable. Devices that had "
                 "a good night are always expected")
      ->allow_extra_args(false);  // the night may follow
  app.add_option(
         "--accept", options.accepted,
         "Accept that rows are worse than in the last good night: all rows of a device and a shift of "
         "its machine (name of its folder, or 'all'), or the rows with this id, a glob. If nothing "
         "else is wrong, this night becomes the last good one; later nights do not report the rows again "
         "until they change again. Repeatable")
      ->allow_extra_args(false);
  app.add_option("--expectations", options.expectations,
                 "Judge the stored rows again by the rules in this folder or file, as if the night had run "
                 "with them and no others; repeatable (default: by the rules it ran with)")
      ->check(CLI::ExistingPath)
      ->allow_extra_args(false);
  app.add_option("--fail-on", options.fail_on,
                 "Changes reported by `compare` that count as regressions, separated by commas, or 'none'")
      ->capture_default_str();
  add_run_noise(app, options.run_noise,
                "File of how much two runs of a device differ, as for `compare`: smaller differences are "
                "not regressions (default: those up to 3 %)");
  app.add_flag("--strict", options.strict,
               "Treat expired, stale and too wide rules of the devices' expectations as failures");
  add_github_summary(app, options.github_summary);
  app.footer(
      "Exit code: 0 every device is good; 1 rows failed or are worse than in the device's last good night; 2 "
      "there was nothing to judge; 3 a report is missing, damaged or incomplete, or rows were lost. The "
      "first of 3, 1, 2, 0 that applies.");
}

}  // namespace

void add_verdict(Commands& commands) {
  commands.add<app::VerdictOptions>("verdict",
                                    "Say whether a night is good, and compare it with the last good one",
                                    declare_verdict, [](app::VerdictOptions options, const Context& context) {
                                      options.version = context.build.version;
                                      return app::verdict(options, terminal());
                                    });
}

}  // namespace assay::cli
