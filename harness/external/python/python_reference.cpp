#include "harness/external/python/python_reference.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/external/python/python_process.h"
#include "harness/tensor/npy/npy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <type_traits>
#include <utility>

namespace assay::external {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double grace_s = 10;  ///< that the driver has to end what it started

/// A new folder, removed at the end with all that is in it.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = (fs::absolute(fs::temp_directory_path()) / "assay-reference-XXXXXX").string();
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
  const PythonRun run = run_in_driver(request.dump(), folder.path().string(), limits_.seconds + grace_s);
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
