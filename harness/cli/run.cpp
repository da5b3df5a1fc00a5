#include "harness/app/resume.h"
#include "harness/app/run_once.h"
#include "harness/app/shard_choice.h"
#include "harness/app/stop_signal.h"
#include "harness/app/watch.h"
#include "harness/cli/commands.h"
#include "harness/report/files/github_summary.h"

#include <cstdlib>
#include <iostream>

namespace assay::cli {
namespace {

constexpr const char* stopping =
    "\nstopping after the row that is running; a second signal stops immediately\n";

/// Returns the requested options, with the shard that the command line or the environment names.
app::RunOptions options_of_new_run(const app::RunOptions& asked) {
  app::RunOptions options = asked;
  options.shard = app::asked_shard(asked.cases.shard, std::getenv);
  return options;
}

/// Returns the requested options, or with --resume the resumed run's own.
app::RunOptions options_of_run(const app::RunOptions& asked, Context& context) {
  if (asked.resume.empty()) return options_of_new_run(asked);
  app::ResumedRun resumed = app::find_resumed_run(asked.resume, parse_run);
  context.command_line = resumed.command;
  resumed.options.resume = resumed.folder;
  resumed.options.resumed_shard = resumed.shard;
  resumed.options.secret_seed = resumed.secret_seed;
  resumed.options.isolation = asked.isolation;
  resumed.options.max_failures = asked.max_failures;
  if (asked.workers > 0) resumed.options.workers = asked.workers;
  if (!asked.worker_command.empty()) resumed.options.worker_command = asked.worker_command;
  resumed.options.verbose = asked.verbose;
  return resumed.options;
}

void summarize(const app::RunOptions& options, const app::RunOutcome& outcome) {
  if (options.github_summary.empty()) return;
  GithubSummary summary{.title = "assay run"};
  for (const RunReport& report : outcome.reports) summary.devices.push_back(summary_device(report));
  append_github_summary(options.github_summary, summary);
}

}  // namespace

int run(const app::RunOptions& asked, const Context& given) {
  app::touch_shard_status_files(std::getenv);
  app::StopSignal stop([] { std::cerr << stopping; });  // before Vulkan starts threads of its own
  if (asked.watch) {
    app::RunOptions here = options_of_new_run(asked);
    here.isolation = false;  // the devices stay open from one round to the next
    return static_cast<int>(app::watch(here, given, terminal(), stop));
  }
  Context context = given;
  const app::RunOptions options = options_of_run(asked, context);
  app::Session session(options);
  const app::RunOutcome outcome =
      app::run_once(options, context, session, terminal(), [&] { return stop.requested(); });
  summarize(options, outcome);
  if (outcome.interrupted) std::cout << app::interrupted_line(outcome);
  return static_cast<int>(outcome.code);
}

}  // namespace assay::cli
