#include "harness/app/case_options.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <system_error>

namespace assay::app {
namespace {

/// The folder that holds the binary.
std::filesystem::path binary_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::vector<std::filesystem::path> CaseOptions::paths() const {
  if (!files.empty()) return files;
  for (const std::filesystem::path& candidate : {std::filesystem::path("cases"), binary_directory() / "cases",
                                                 binary_directory() / "../share/assay/cases"}) {
    if (std::filesystem::is_directory(candidate)) return {candidate};
  }
  throw Error(
      "looking for cases: there is no folder cases/ here, beside the binary or in ../share/assay from it; "
      "name "
      "case files or folders");
}

Selection CaseOptions::selection() const {
  Selection selection{.filter = filter, .impls = impls, .ops = ops};
  if (!mode.empty()) selection.mode = parse_mode(mode);
  for (const std::string& tier : tiers) selection.tiers.push_back(parse_tier(tier).value());
  return selection;
}

bool CaseOptions::is_narrowed() const {
  return !filter.empty() || !ops.empty() || !impls.empty() || !mode.empty();
}

bool CaseOptions::is_partial() const {
  const auto is_file = [](const std::filesystem::path& path) { return !std::filesystem::is_directory(path); };
  return is_narrowed() || std::ranges::any_of(files, is_file);
}

LoadResult load_and_complain(const CaseOptions& options, const Registry& registry, std::ostream& errors) {
  const std::vector<std::filesystem::path> paths = options.paths();
  LoadResult loaded = load_cases(paths, registry, {.seed = options.seed});
  for (const Diagnostic& error : loaded.errors) errors << to_string(error) << '\n';
  if (!loaded.errors.empty()) {
    errors << loaded.errors.size() << (loaded.errors.size() == 1 ? " error" : " errors")
           << " in case files; the other cases are used, and the exit code will be 2\n";
  }
  return loaded;
}

void throw_nothing_selected(const CaseOptions& options, std::size_t cases) {
  std::string by;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) by += fmt::format("{}{} '{}'", by.empty() ? "" : ", ", option, value);
  };
  add("--filter", options.filter);
  for (const std::string& op : options.ops) add("--op", op);
  for (const std::string& impl : options.impls) add("--impl", impl);
  for (const std::string& tier : options.tiers) add("--tier", tier);
  add("--mode", options.mode);
  throw Error(
      fmt::format("choosing cases: none of {} is selected{}{}; `assay list` without options shows all ids",
                  cases, by.empty() ? "" : " by ", by));
}

}  // namespace assay::app
