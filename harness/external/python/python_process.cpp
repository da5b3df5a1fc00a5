#include "harness/external/python/python_process.h"

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::external {
namespace {

constexpr std::size_t most_kept = std::size_t{64} << 10;
constexpr double probe_s = 30;
constexpr int wait_ms = 20;

constexpr const char* probe =
    "import sys\n"
    "print('Python', sys.version.split()[0], end='', flush=True)\n"
    "import numpy\n"
    "print(', NumPy', numpy.__version__, end='')";

/// Reads what is there; keeps the end of it. Returns whether there was something.
bool read_into(int from, std::string& kept) {
  std::array<char, 1 << 14> chunk{};
  const ssize_t count = ::read(from, chunk.data(), chunk.size());
  if (count <= 0) return false;
  kept.append(chunk.data(), static_cast<std::size_t>(count));
  if (kept.size() > 2 * most_kept) kept.erase(0, kept.size() - most_kept);
  return true;
}

std::string last_of(std::string printed) {
  if (printed.size() > most_kept) printed.erase(0, printed.size() - most_kept);
  return printed;
}

/// Waits a moment for either stream; returns whether there was something.
bool read_both(const ChildProcess& process, std::string& output, std::string& errors) {
  std::array<pollfd, 2> ready{{{process.output(), POLLIN, 0}, {process.errors(), POLLIN, 0}}};
  ::poll(ready.data(), ready.size(), wait_ms);
  const bool has_output = read_into(process.output(), output);
  return read_into(process.errors(), errors) || has_output;
}

std::string path_variable() {
  const char* const path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

/// Python isolated from the user's settings, with an environment of PATH and what keeps answers reproducible.
/// One thread: with several, the order of additions would vary.
std::vector<std::string> python_command(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/usr/bin/env",
                                 "-i",
                                 "PATH=" + path_variable(),
                                 "OMP_NUM_THREADS=1",
                                 "OPENBLAS_NUM_THREADS=1",
                                 "MKL_NUM_THREADS=1",
                                 "PYTHONHASHSEED=0",
                                 path,
                                 "-I",
                                 "-B"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// How a process ended and all that it printed; one that still runs has taken too long, and is killed.
PythonRun run_of(ChildProcess& process, const std::optional<ChildEnd>& end, std::string printed) {
  while (end && (read_into(process.output(), printed) || read_into(process.errors(), printed))) {
  }
  if (!end) process.kill();
  return {.ended_well = end && end->signal == 0 && end->exit_code == 0,
          .how = end ? to_string(*end) : "",
          .printed = last_of(std::move(printed))};
}

/// Asks an interpreter for its version and NumPy's.
PythonRun run_probe(const std::string& path) {
  ChildProcess process(python_command(path, {"-c", probe}));
  const Stopwatch watch;
  std::string printed;
  std::optional<ChildEnd> end;
  while (!end && watch.s() < probe_s) {
    if (!read_both(process, printed, printed)) end = process.end();
  }
  return run_of(process, end, std::move(printed));
}

/// ASSAY_PYTHON alone, if it is set.
std::vector<std::string> candidates() {
  const char* const chosen = std::getenv("ASSAY_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  return {"/usr/bin/python3", "python3"};
}

Interpreter found_interpreter() {
  Interpreter found{.path = "", .versions = "", .missing = "python3 is not installed: install python3-numpy"};
  for (const std::string& candidate : candidates()) {
    PythonRun run;
    try {
      run = run_probe(candidate);
    } catch (const Error&) {
      continue;
    }
    if (candidates().size() == 1 && !run.printed.starts_with("Python")) {
      found.missing = fmt::format(
          "'{}', which ASSAY_PYTHON names, cannot run: name one with NumPy (package python3-numpy)",
          candidate);
    }
    if (run.ended_well) return {.path = candidate, .versions = run.printed, .missing = ""};
    if (run.printed.starts_with("Python"))
      found.missing = fmt::format("{} has no NumPy: install python3-numpy", candidate);
  }
  return found;
}

/// Drivers that wait for requests.
class IdleDrivers {
 public:
  std::unique_ptr<ChildProcess> take() {
    {
      const std::scoped_lock lock(mutex_);
      while (!idle_.empty()) {
        std::unique_ptr<ChildProcess> driver = std::move(idle_.back());
        idle_.pop_back();
        if (!driver->end()) return driver;
      }
    }
    return std::make_unique<ChildProcess>(python_command(interpreter().path, {"-c", python_driver()}));
  }

  void give_back(std::unique_ptr<ChildProcess> driver) {
    const std::scoped_lock lock(mutex_);
    if (idle_.size() < most) idle_.push_back(std::move(driver));
  }

 private:
  static constexpr std::size_t most = 16;

  std::mutex mutex_;
  std::vector<std::unique_ptr<ChildProcess>> idle_;
};

/// Those of this thread's priority, which a driver inherits from the thread that starts it.
IdleDrivers& idle_drivers() {
  static IdleDrivers foreground, background;
  return is_in_background() ? background : foreground;
}

}  // namespace

const Interpreter& interpreter() {
  static const Interpreter found = found_interpreter();
  return found;
}

PythonRun run_in_driver(const std::string& request, const std::string& folder, double seconds) {
  std::unique_ptr<ChildProcess> driver = idle_drivers().take();
  driver->send(request + '\n');  // what does not take it does not answer either
  // Python and its modules may have printed warnings before.
  const std::string done = fmt::format("\n{} 0\n", folder), failed = fmt::format("\n{} 1\n", folder);
  std::string printed, replies;
  std::optional<ChildEnd> end;
  const auto is_answered = [&] { return replies.ends_with(done) || replies.ends_with(failed); };
  for (const Stopwatch watch; !end && !is_answered() && watch.s() < seconds;) {
    if (!read_both(*driver, printed, replies)) end = driver->end();
  }
  if (!is_answered()) return run_of(*driver, end, printed + replies);
  while (read_into(driver->output(), printed)) {
  }
  idle_drivers().give_back(std::move(driver));
  return {.ended_well = replies.ends_with(done), .how = "has failed", .printed = last_of(std::move(printed))};
}

}  // namespace assay::external
