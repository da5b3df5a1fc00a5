#include "harness/commands/model/model.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/model/mapping.h"
#include "harness/models/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 64;
constexpr auto common_names =
    std::to_array<std::string_view>({"config.json", "model.safetensors", "model.safetensors.index.json"});

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void check_name(const std::string& name) {
  // Of names with these characters, YAML reads this alone as something else.
  const bool is_nothing = name == "null";
  if (!is_nothing && !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, is_allowed))
    return;
  throw Error(fmt::format(
      "naming a model '{}': a name has 1 to {} lower-case letters, digits and underscores, and is "
      "not 'null'",
      printable_line(shortened(name, 80)), longest_name));
}

/// A new folder, which is removed with its files unless keep() is called.
class NewFolder {
 public:
  explicit NewFolder(fs::path path) : path_(std::move(path)) {
    const fs::path parent = path_.parent_path();
    if (!parent.empty()) make_directories(parent);
    std::error_code error;
    const bool is_new = fs::create_directory(path_, error);
    if (error && error != std::errc::file_exists) throw_file_error("create the folder", path_, error.value());
    if (!is_new) {
      throw Error(fmt::format(
          "writing the cases of a model: '{}' exists and is not changed; choose another --out, or "
          "another --name",
          printable_line(path_.string())));
    }
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!is_kept_) fs::remove_all(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return path_; }
  void keep() { is_kept_ = true; }

 private:
  fs::path path_;
  bool is_kept_ = false;
};

/// Where the cases are written. A path that ends with a slash names the same folder without it; with it, its
/// parent is the folder itself.
fs::path folder_of(const fs::path& out, const std::string& name) {
  if (out.empty()) return name;
  return out.has_filename() ? out : out.parent_path();
}

/// Why no impl computes the case; nothing if one does.
std::optional<std::string> why_no_impl(const Case& one) {
  std::optional<std::string> reason = one.invalid;
  if (reason || !one.impl->choose) return reason;
  for (const Impl& impl : one.op->impls) {
    if (impl.choose) continue;
    Case with_impl = one;
    with_impl.impl = &impl;
    reason = why_invalid(with_impl);
    if (!reason) return std::nullopt;
  }
  return reason;
}

void check_impls(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    if (const std::optional<std::string> reason = why_no_impl(one)) {
      throw Error(
          fmt::format("writing the cases of a model: no op can compute it as its file says; {} for {}: "
                      "{}",
                      one.op->name, one.layer, *reason));
    }
  }
}

/// The cases that a run will load. Throws Error with what is wrong with the first of those that are wrong.
std::vector<Case> loaded(const fs::path& folder, const Registry& registry) {
  LoadResult result = load_cases(std::array{folder}, registry);
  if (result.errors.empty()) {
    check_impls(result.cases);
    return std::move(result.cases);
  }
  throw Error(
      fmt::format("writing the cases of a model: no op can compute it as its file says; {} of its cases are "
                  "wrong, the first: {}",
                  result.errors.size(), result.errors.front().message));
}

void report(const fs::path& folder, const std::vector<CaseFile>& files, const std::vector<Case>& cases,
            const std::string& name, const Terminal& terminal) {
  for (const CaseFile& file : files)
    terminal.out << "wrote " << printable_line((folder / file.name).lexically_normal().string()) << '\n';
  terminal.out << fmt::format(
      "\n{} cases of {} ops.\nRun them, and add up the times of a step:\n"
      "  assay run {} --mode perf\n  assay summary --model {} assay-out/scratch\n",
      cases.size(), files.size() - 1, printable_line(shell_word(folder.lexically_normal().string())), name);
}

/// The name of the file without suffix, or of its folder if all models have a file of that name.
std::string telling_name(const fs::path& file) {
  const bool is_common = std::ranges::find(common_names, file.filename().string()) != common_names.end();
  const std::string folder =
      is_common ? fs::absolute(file).lexically_normal().parent_path().filename().string() : "";
  return folder.empty() ? file.stem().string() : folder;
}

}  // namespace

std::string model_name_of(const fs::path& file) {
  std::string name;
  for (char c : telling_name(file)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_allowed(c)) c = '_';
    if (c != '_' || (!name.empty() && name.back() != '_')) name += c;
  }
  name.resize(std::min(name.size(), longest_name));
  while (name.ends_with('_')) name.pop_back();
  if (!name.empty()) return name;
  throw Error(fmt::format("naming the model of '{}': its name has no letters and digits; give --name",
                          printable_line(file.string())));
}

ExitCode write_model(const ModelOptions& options, const Context& context, const Terminal& terminal) {
  ModelCases cases = options.cases;
  if (cases.name.empty()) cases.name = model_name_of(options.file);
  check_name(cases.name);
  const models::Decoder decoder = models::read_model(options.file);
  const std::vector<CaseFile> files = case_files(decoder, cases);
  NewFolder folder(folder_of(options.out, cases.name));
  for (const CaseFile& file : files) replace_file(folder.path() / file.name, file.text);
  const std::vector<Case> of_model = loaded(folder.path(), context.registry);
  folder.keep();
  report(folder.path(), files, of_model, cases.name, terminal);
  return ExitCode::Fine;
}

}  // namespace assay::app
