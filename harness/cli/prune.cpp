#include "harness/commands/farm/prune.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_prune(CLI::App& app, app::PruneOptions& options) {
  app.add_option("folder", options.folder, "An output folder, or the folder that holds the nights of a farm")
      ->required();
  app.add_option("--keep", options.keep, "Keep the newest N reports of each device")
      ->check(whole_number(1, 1'000'000));
  app.add_option(
         "--older-than", options.older_than_days,
         "Remove only reports that began more than N days ago; with --keep, only what both options allow")
      ->check(number(0, 36500));
  app.add_flag(
      "--shards", options.shards,
      "Remove the shards of nights, except the newest night, where a complete report was merged from them");
  app.add_flag("--dry-run", options.dry_run, "Print what would be removed, and remove nothing");
  app.footer(
      "Never removed: the newest report of each device, the target of any link below the folder (latest, "
      "last-good/...) except links of a night into itself, reports that a run is writing, reports in a "
      "subfolder that is no night (it has neither nightly.json nor plan), and files that assay did not "
      "write. "
      "Only folders runs/<run>/<device>/ with a journal and no foreign files are removed, and nights that "
      "hold "
      "nothing else. No link is followed. Exit code: 0 done, 2 usage, 3 something "
      "could not be removed.");
}

}  // namespace

void add_prune(Commands& commands) {
  commands.add<app::PruneOptions>(
      "prune", "Remove old runs and nights, and say what is kept and why", declare_prune,
      [](const app::PruneOptions& options, const Context&) { return app::prune(options, terminal()); });
}

}  // namespace assay::cli
