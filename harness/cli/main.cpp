#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cli/command_line.h"
#include "harness/commands/mutate/trial_worker.h"
#include "harness/commands/run/workers/worker.h"
#include "harness/gpu/gpu.h"
#include "ops/registry.h"

#include "build_info.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

/// Lets a write to a closed pipe, or past the file size limit, fail with an error instead of killing the
/// process.
void ignore_signals_of_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Flushes stdout. Returns `code`, or Infrastructure when not everything could be written.
int with_stdout_written(int code) {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (std::cout && flushed && std::ferror(stdout) == 0) return code;
  const std::string why = errno == 0 ? "a write failed" : std::generic_category().message(errno);
  std::cerr << "assay: cannot write to stdout: " << why << "; the output is incomplete\n";
  return static_cast<int>(assay::ExitCode::Infrastructure);
}

// Commands that a run starts in processes of its own. Users do not need them, so the help omits them.
constexpr const char* compile_shader = "compile-shader";
constexpr const char* worker = "worker";
constexpr const char* trial_worker = "trial-worker";

int run_main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == compile_shader) return assay::gpu::serve_compilation();
  const assay::Registry registry = assay::ops::registry();
  const assay::app::Context context{
      registry,
      {argv, argv + argc},
      {assay::cli::version(), ASSAY_COMPILER, ASSAY_BUILD_TYPE, assay::cli::reference_code()},
      {"/proc/self/exe", compile_shader},
      {"/proc/self/exe", worker},
      {"/proc/self/exe", trial_worker},
      [](const std::vector<std::string>& command) { return assay::cli::parse_run(command); }};
  if ((argc == 2 || argc == 3) && std::string_view(argv[1]) == worker) {
    if (argc == 3) assay::app::limit_memory(argv[2]);
    assay::app::serve_worker(context);
  }
  if (argc == 2 && std::string_view(argv[1]) == trial_worker)
    return static_cast<int>(assay::app::serve_trials(context));
  return static_cast<int>(assay::cli::parse(argc, argv, context)());
}

int guarded_main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const assay::Error& error) {
    std::cerr << "assay: " << assay::printable(error.what()) << '\n';
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    std::cerr << "assay: the system refuses what is needed: " << assay::printable(error.what())
              << "; if it has no more threads or processes, raise the limit (ulimit -u) or end others\n";
    return static_cast<int>(assay::ExitCode::Infrastructure);
  } catch (const std::exception& error) {
    std::cerr << "assay: internal error: " << assay::printable(error.what()) << '\n';
    return static_cast<int>(assay::ExitCode::Infrastructure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  assay::open_standard_descriptors();
  ignore_signals_of_writes();
  return with_stdout_written(guarded_main(argc, argv));
}
