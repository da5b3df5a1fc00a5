#include "harness/app/judge/judge.h"

#include "harness/app/stop_signal.h"
#include "harness/cli/commands.h"

#include <iostream>

namespace assay::cli {

int judge(const app::JudgeOptions& options, const Context& context) {
  const app::StopSignal stop([] {
    std::cerr << "\nstopping after the row that is running; a second signal stops immediately\n";
  });  // before Vulkan starts threads of its own
  return static_cast<int>(
      app::judge(options, context, parse_run, terminal(), [&] { return stop.requested(); }));
}

}  // namespace assay::cli
