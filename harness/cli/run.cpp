#include "harness/base/error.h"
#include "harness/cli/command.h"
#include "harness/cli/command_line.h"
#include "harness/cli/options_of_run.h"
#include "harness/commands/run/run_once.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/commands/run/watch.h"
#include "harness/commands/run_options.h"
#include "harness/commands/stop_signal.h"
#include "harness/report/writers/markdown.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace assay::cli {
namespace {

constexpr const char* stopping =
    "\nstopping after the row that is running; another signal, a second or more later, stops immediately\n";

/// Refuses options that contradict each other: one of them would be ignored silently.
void refuse_contradictions(const app::RunOptions& asked) {
  if (!asked.rows.times_secret_data || asked.secret_seed != std::uint64_t{0}) return;
  throw Error(
      "choosing data: --secret-seed 0 makes no secret data, and --time-secret-data times rows on such data: "
      "leave one of them out");
}

/// Returns the requested options, with the shard that the command line or the environment names.
app::RunOptions options_of_new_run(const app::RunOptions& asked) {
  refuse_contradictions(asked);
  app::RunOptions options = asked;
  options.shard = app::asked_shard(asked.cases.shard, std::getenv);
  return options;
}

/// Returns the requested options, or with --resume those of resumed_command(), which `context` then gets as
/// its command line.
app::RunOptions options_of_run(const app::RunOptions& asked, Context& context) {
  if (asked.resume.empty()) return options_of_new_run(asked);
  const app::ResumedRun resumed = app::find_resumed_run(asked.resume);
  context.command_line = resumed_command(resumed.command, context.command_line);
  app::RunOptions options = parse_run(context.command_line);
  options.resume = resumed.folder;
  options.resumed_shard = resumed.shard;
  options.secret_seed = resumed.secret_seed;
  return options;
}

void summarize(const app::RunOptions& options, const app::RunOutcome& outcome) {
  if (options.github_summary.empty()) return;
  GithubSummary summary{.title = "assay run"};
  for (const RunReport& report : outcome.reports) summary.devices.push_back(summary_device(report));
  append_github_summary(options.github_summary, summary);
}

ExitCode run(const app::RunOptions& asked, const Context& given) {
  app::touch_shard_status_files(std::getenv);
  app::StopSignal stop([] { std::cerr << stopping; });  // before Vulkan starts threads of its own
  if (asked.watch) {
    app::RunOptions here = options_of_new_run(asked);
    here.attempt.isolation = false;  // the devices stay open from one round to the next
    return app::watch(here, given, terminal(), stop);
  }
  Context context = given;
  const app::RunOptions options = options_of_run(asked, context);
  app::Session session(options);
  if (options.dry_run) return app::dry_run(options, context, session, terminal());
  const app::RunOutcome outcome =
      app::run_once(options, context, session, terminal(), [&] { return stop.requested(); });
  summarize(options, outcome);
  if (outcome.interrupted) std::cout << app::interrupted_line(outcome);
  return outcome.code;
}

}  // namespace

void add_run(Commands& commands) {
  commands.add<app::RunOptions>("run", "Run cases on a device and write reports", declare_run, run);
}

}  // namespace assay::cli
