#include "harness/app/judge/judge.h"

#include "harness/app/stop_signal.h"
#include "harness/cli/commands.h"

#include <iostream>

namespace assay::cli {

int judge(const app::JudgeOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr << "\nstopping: the row that runs comes to its end first; a second signal ends at once\n";
  });  // before Vulkan starts threads of its own
  return static_cast<int>(
      app::judge(options, context, parse_run, terminal(), [&] { return stop.requested(); }));
}

}  // namespace assay::cli
