#include "harness/commands/merge/merge.h"

#include "harness/cli/command.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void declare_merge(CLI::App& app, app::MergeOptions& options) {
  app.add_option("out", options.out, "Folder for the merged report, laid out as a run's --out")->required();
  app.add_option("shards", options.shards, "For each shard its --out, or its device's folder or journal")
      ->required();
  app.add_flag("--overwrite", options.overwrite, "Allow an OUT that holds a report of the device");
  app.add_flag("--strict", options.strict,
               "Fail when a rule of the device's expectations is expired, stale or too wide");
}

}  // namespace

void add_merge(Commands& commands) {
  commands.add<app::MergeOptions>("merge", "Merge the reports of a run's shards into one", declare_merge,
                                  [](const app::MergeOptions& options, const Context& context) {
                                    return app::merge(options, context, terminal());
                                  });
}

}  // namespace assay::cli
