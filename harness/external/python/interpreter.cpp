#include "harness/external/python/interpreter.h"

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/base/error.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <poll.h>
#include <unistd.h>

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

std::string path_variable() {
  const char* const path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
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
      run = run_python(candidate, {"-c", probe}, probe_s);
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

}  // namespace

PythonRun run_python(const std::string& path, const std::vector<std::string>& arguments, double seconds) {
  // One thread: with several, the order of additions would vary.
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
  ChildProcess process(words);
  const Stopwatch watch;
  PythonRun run;
  std::optional<ChildEnd> end;
  while (!end && watch.s() < seconds) {
    std::array<pollfd, 2> ready{{{process.output(), POLLIN, 0}, {process.errors(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), wait_ms);
    const bool has_output = read_into(process.output(), run.printed);
    const bool has_errors = read_into(process.errors(), run.printed);
    if (!has_output && !has_errors) end = process.end();
  }
  while (end && (read_into(process.output(), run.printed) || read_into(process.errors(), run.printed))) {
  }
  if (!end) process.kill();
  if (run.printed.size() > most_kept) run.printed.erase(0, run.printed.size() - most_kept);
  run.ended_well = end && end->signal == 0 && end->exit_code == 0;
  if (end) run.how = to_string(*end);
  return run;
}

const Interpreter& interpreter() {
  static const Interpreter found = found_interpreter();
  return found;
}

}  // namespace assay::external
