#include "harness/app/run_once.h"
#include "harness/app/stop_signal.h"
#include "harness/app/watch.h"
#include "harness/cli/commands.h"

#include <iostream>

namespace assay::cli {
namespace {

constexpr const char* stopping =
    "\nstopping: the row that runs comes to its end first; a second signal ends at once\n";

}  // namespace

int run(const app::RunOptions& options, const Context& context) {
  app::StopSignal stop([] { std::cerr << stopping; });  // before Vulkan starts threads of its own
  if (options.watch) return static_cast<int>(app::watch(options, context, terminal(), stop));
  app::Session session(options);
  const app::RunOutcome outcome =
      app::run_once(options, context, session, terminal(), [&] { return stop.requested(); });
  if (outcome.interrupted) std::cout << app::interrupted_line(outcome);
  return static_cast<int>(outcome.code);
}

}  // namespace assay::cli
