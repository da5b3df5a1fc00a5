#include "harness/commands/mutate/trial_worker.h"

#include "harness/base/file.h"
#include "harness/base/parallel.h"
#include "harness/commands/external_ops.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/mutate/trial_protocol.h"
#include "harness/commands/run/setup/engine_options.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sys/prctl.h>
#include <unistd.h>

namespace assay::app {
namespace {

/// Beyond it a worker ends after its fault, and another takes its place: drivers keep what they compile.
constexpr std::size_t most_resident_bytes = std::size_t{1536} << 20;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Other workers use the other cores. Kernels run once or twice, so that optimizing them costs more than it
/// saves, and no driver needs to remember what no one will run again.
void prepare_environment() {
  ::setenv("LP_NUM_THREADS", "1", 0);
  ::setenv("GALLIVM_PERF", "nopt", 0);
  ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_parallel_threads(1);
}

void tell(const TrialNews& news) {
  std::cout << line_of(news) << std::flush;
}

/// Leaves without the exit handlers of a driver whose memory may be damaged.
[[noreturn]] void leave() {
  std::cout.flush();
  ::_exit(0);
}

void serve_faults(TrialBench& bench) {
  const TrialBench::Listener listener{.begin = [](std::size_t row) { tell({.row = row}); },
                                      .end = [] { tell({.row = no_row}); },
                                      .goes_on = [] { tell({.row = no_row}); },
                                      .killed =
                                          [](std::size_t row, const Kill& kill) {
                                            tell({.kill = TrialNews::RowKill{row, kill}});
                                          }};
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const FaultResult result = bench.run(parse_request(line), listener);
      const bool is_lost = bench.is_lost();
      const bool retires = is_lost || resident_bytes() > most_resident_bytes;
      tell({.end = TrialNews::End{result, retires}});
      if (retires) leave();
    } catch (const DamagedProcess& error) {
      tell({.damaged = error.what()});
      leave();
    } catch (const Error& error) {
      tell({.error = error.what(), .error_code = error.code()});
      leave();
    } catch (const std::exception& error) {
      tell({.error = error.what()});
      leave();
    }
  }
}

CaseOptions cases_of(const TrialSetup& setup) {
  CaseOptions options;
  options.files = setup.cases;
  options.op_folders = setup.op_folders;
  options.mode = "accu";
  return options;
}

}  // namespace

ExitCode serve_trials(const Context& context) {
  prepare_environment();
  std::string line;
  if (!std::getline(std::cin, line)) return ExitCode::Usage;
  const TrialSetup setup = parse_setup(line);
  const CaseOptions options = cases_of(setup);
  const Context with_manifests = with_ops(context, setup.op_folders);
  const LoadResult loaded = load(options, options.files, with_manifests.registry);
  gpu::Instance instance;
  gpu::Device device(instance, setup.device);
  const TrialRows rows(selected_cases(options, loaded.cases), device.info());
  TrialBench bench(device, rows.all(),
                   {.shaders = setup.shaders,
                    .scratch = setup.scratch,
                    .answers = answer_cache_options({}, context.build)});
  tell({.ready = rows.fingerprint()});
  serve_faults(bench);
  leave();
}

}  // namespace assay::app
