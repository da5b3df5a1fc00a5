#include "harness/app/resume.h"
#include "harness/app/run_once.h"
#include "harness/app/stop_signal.h"
#include "harness/app/watch.h"
#include "harness/cli/commands.h"

#include <iostream>

namespace assay::cli {
namespace {

constexpr const char* stopping =
    "\nstopping: the row that runs comes to its end first; a second signal ends at once\n";

/// With --resume, the options of the run that is gone on with.
app::RunOptions options_of_run(const app::RunOptions& asked, Context& context) {
  if (asked.resume.empty()) return asked;
  app::ResumedRun resumed = app::find_resumed_run(asked.resume, parse_run);
  context.command_line = resumed.command;
  resumed.options.resume = resumed.folder;
  resumed.options.isolation = asked.isolation;
  if (!asked.worker_command.empty()) resumed.options.worker_command = asked.worker_command;
  resumed.options.verbose = asked.verbose;
  return resumed.options;
}

}  // namespace

int run(const app::RunOptions& asked, const Context& given) {
  app::StopSignal stop([] { std::cerr << stopping; });  // before Vulkan starts threads of its own
  if (asked.watch) {
    app::RunOptions here = asked;
    here.isolation = false;  // the devices stay open from one round to the next
    return static_cast<int>(app::watch(here, given, terminal(), stop));
  }
  Context context = given;
  const app::RunOptions options = options_of_run(asked, context);
  app::Session session(options);
  const app::RunOutcome outcome =
      app::run_once(options, context, session, terminal(), [&] { return stop.requested(); });
  if (outcome.interrupted) std::cout << app::interrupted_line(outcome);
  return static_cast<int>(outcome.code);
}

}  // namespace assay::cli
