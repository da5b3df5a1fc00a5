#include "harness/external/python/python_reference.h"

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/tensor/npy/npy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <poll.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace assay::external {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

constexpr double grace_s = 10;  ///< that the driver has to end what it started

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

/// A new folder, removed at the end with all that is in it.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = (fs::temp_directory_path() / "assay-reference-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(fmt::format("making a folder for a reference: '{}': {}", pattern,
                              std::generic_category().message(errno)),
                  ExitCode::Infrastructure);
    }
    path_ = pattern;
    make_directories(path_ / "work");
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// NumPy's name of a dtype.
std::string numpy_name(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return "float32";
    case DType::F16:
      return "float16";
    case DType::F64:
      return "float64";
    case DType::I8:
      return "int8";
    case DType::U8:
      return "uint8";
    case DType::I64:
      return "int64";
    default:
      return "int32";
  }
}

json param_of(const Value& value) {
  return std::visit(
      [](const auto& one) -> json {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, QParams>) {
          return {{"kind", "qparams"}, {"scale", one.scale}, {"zero_point", one.zero_point}};
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return {{"kind", "list"}, {"value", one}};
        } else {
          return {{"kind", "plain"}, {"value", one}};
        }
      },
      value);
}

json request_of(const fs::path& file, const std::string& function, const PythonLimits& limits,
                const WorkFolder& folder) {
  return {{"file", fs::absolute(file).lexically_normal().string()},
          {"function", function},
          {"folder", folder.path().string()},
          {"seconds", limits.seconds},
          {"cpu_seconds", limits.cpu_seconds},
          {"memory_bytes", limits.memory_bytes},
          {"file_bytes", limits.file_bytes},
          {"params", json::object()},
          {"inputs", json::array()},
          {"outputs", json::array()}};
}

/// The answer for one output, which the driver has checked; a reference could have written files, too.
PythonAnswer read_answer(const WorkFolder& folder, const WantedOutput& output) {
  const fs::path file = folder / ("out." + output.name + ".npy");
  if (!fs::is_regular_file(file))
    throw Error(fmt::format("it ended before it had returned '{}'", output.name));
  PythonAnswer answer{.values = read_npy(file), .bound = std::nullopt};
  const bool is_float = output.dtype == DType::F32 || output.dtype == DType::F16;
  const bool fits =
      answer.values.dtype() == output.dtype || (is_float && answer.values.dtype() == DType::F64);
  const fs::path bound = folder / ("out." + output.name + "_bound.npy");
  if (fs::exists(bound)) answer.bound = read_npy(bound);
  const bool bound_fits = !answer.bound || (answer.bound->dtype() == DType::F64 &&
                                            answer.bound->numel() == answer.values.numel());
  if (!fits || !bound_fits || answer.values.numel() != numel(output.shape))
    throw Error(fmt::format("its file of '{}' is not what was checked", output.name));
  return answer;
}

}  // namespace

PythonRun run_python(const std::string& path, const std::vector<std::string>& arguments, double seconds) {
  ChildProcess process(python_command(path, arguments));
  const Stopwatch watch;
  std::string printed;
  std::optional<ChildEnd> end;
  while (!end && watch.s() < seconds) {
    if (!read_both(process, printed, printed)) end = process.end();
  }
  return run_of(process, end, std::move(printed));
}

const Interpreter& interpreter() {
  static const Interpreter found = found_interpreter();
  return found;
}

/// Processes of driver.py. Each serves one call at a time, and is kept for the next one.
class PythonReference::Drivers {
 public:
  /// Has a request computed. The run ended well if its outputs are written. Thread-safe.
  PythonRun compute(const fs::path& request, double seconds) {
    std::unique_ptr<ChildProcess> driver = take();
    driver->send(request.string() + '\n');  // what does not take it does not answer either
    std::string printed, reply;
    std::optional<ChildEnd> end;
    for (const Stopwatch watch; !end && !reply.ends_with('\n') && watch.s() < seconds;) {
      if (!read_both(*driver, printed, reply)) end = driver->end();
    }
    if (!reply.ends_with('\n')) return run_of(*driver, end, printed + reply);
    while (read_into(driver->output(), printed)) {
    }
    give_back(std::move(driver));
    return {.ended_well = reply == "0\n", .how = "has failed", .printed = last_of(std::move(printed))};
  }

 private:
  /// One that waits for requests.
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
    idle_.push_back(std::move(driver));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<ChildProcess>> idle_;
};

PythonReference::PythonReference(fs::path file, std::string function, PythonLimits limits)
    : file_(std::move(file)),
      function_(std::move(function)),
      limits_(limits),
      drivers_(std::make_unique<Drivers>()) {}
PythonReference::~PythonReference() = default;
PythonReference::PythonReference(PythonReference&&) noexcept = default;
PythonReference& PythonReference::operator=(PythonReference&&) noexcept = default;

std::vector<PythonAnswer> PythonReference::compute(const Params& params, std::span<const NamedTensor> inputs,
                                                   std::span<const WantedOutput> outputs) const try {
  if (const auto why = why_no_python()) throw Error(*why);
  const WorkFolder folder;
  json request = request_of(file_, function_, limits_, folder);
  for (const auto& [name, value] : params.all()) request["params"][name] = param_of(value);
  for (const NamedTensor& input : inputs) {
    request["inputs"].push_back(input.name);
    write_npy(folder / ("in." + input.name + ".npy"), input.tensor);
  }
  for (const WantedOutput& output : outputs) {
    request["outputs"].push_back(
        {{"name", output.name}, {"dtype", numpy_name(output.dtype)}, {"shape", output.shape}});
  }
  replace_file(folder / "request.json", request.dump());
  const PythonRun run = drivers_->compute(folder / "request.json", limits_.seconds + grace_s);
  if (!run.ended_well) {
    constexpr std::size_t most_told = 8192;
    const auto told = whole_regular_file(folder / "error.txt", most_told);
    const std::string how = run.how.empty() ? "it took too long and was stopped" : "its process " + run.how;
    throw Error(told && !told->empty() ? *told : how + (run.printed.empty() ? "" : ": " + run.printed));
  }
  std::vector<PythonAnswer> answers;
  for (const WantedOutput& output : outputs) answers.push_back(read_answer(folder, output));
  return answers;
} catch (const Error& error) {
  constexpr std::size_t longest = 4096;
  throw Error(fmt::format("running the reference {}: {}", file_.string(), shortened(error.what(), longest)),
              error.code());
}

std::optional<std::string> why_no_python() {
  const std::string& missing = interpreter().missing;
  return missing.empty() ? std::nullopt : std::optional(missing);
}

std::string python_versions() {
  return interpreter().versions;
}

}  // namespace assay::external
