#include "harness/cases/expectations/expectations.h"

#include "harness/base/error.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/expectations/expectation_reader.h"
#include "harness/cases/yaml/case_files.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <system_error>

namespace assay {
namespace {

namespace fs = std::filesystem;
using cases::Node;

Pattern read_device(const Node::Entry& entry) {
  constexpr std::size_t longest = 200;  // anything longer is a mistake
  const std::string& text = cases::filled_text(entry);
  if (text.size() > longest) {
    throw cases::Problem(
        cases::diagnose(*entry.key, fmt::format("'device' has more than {} characters", longest)));
  }
  try {
    return Pattern(text);
  } catch (const Error& error) {
    throw cases::Problem(
        cases::diagnose(*entry.key, fmt::format("'{}' is not a regular expression: {}", text, error.what())));
  }
}

/// Reads the rules. A bad rule is reported and left out.
void read_rules(const Node::Entry& entry, Expectations::Device& device, cases::Reporter& reporter) {
  if (!entry.value->is_list()) cases::wrong_type(*entry.value, {entry.key, "expect"}, "a list of rules");
  for (const Node* node : entry.value->items) {
    try {
      if (node->is_null()) throw cases::Problem(cases::diagnose(*entry.key, "a rule in this list is empty"));
      if (node->flawed) {
        reporter.add_flaws(*node);
      } else {
        device.rules.push_back(cases::read_expectation(*node));
      }
    } catch (const cases::Problem& problem) {
      reporter.add(problem);
    }
  }
}

void read_file(const fs::path& path, Expectations& expectations, cases::Reporter& reporter) {
  static const std::array<std::string, 2> keys{"device", "expect"};
  const cases::SourceFile source = cases::SourceFile::read(path);
  cases::Arena arena;
  const Node* root = cases::parse_yaml(source, arena);
  if (root == nullptr || !root->is_map()) {
    throw cases::Problem(
        source.diagnose({}, "an expectation file is a map with a 'device' and a list 'expect'"));
  }
  if (!root->flaws.empty()) throw cases::Problem(cases::diagnose(root->flaws.front()));
  cases::check_keys(*root, keys);
  const cases::Node::Entry& name = cases::required(*root, "device", *root);
  Expectations::Device device{read_device(name), {}, name.value->text};
  read_rules(cases::required(*root, "expect", *root), device, reporter);
  expectations.add(std::move(device));
}

/// Returns the nearest folder `expectations` in `directory` or above it.
fs::path nearest_folder(fs::path directory) {
  std::error_code ignored;
  for (;; directory = directory.parent_path()) {
    const fs::path folder = directory / "expectations";
    if (fs::is_directory(folder, ignored)) return folder;
    if (!directory.has_relative_path()) return {};
  }
}

std::vector<fs::path> folders_below(const fs::path& directory) {
  std::vector<fs::path> folders;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && entry->path().filename() == "expectations")
      folders.push_back(entry->path());
  }
  return folders;
}

}  // namespace

const Expectation* Expectations::find(std::string_view device_name, const RowWords& row) const {
  for (const Device& device : devices_) {
    if (!device.name.is_in(device_name)) continue;
    for (const Expectation& rule : device.rules) {
      if (!is_expired(rule) && rule.matches(row)) return &rule;
    }
  }
  return nullptr;
}

std::vector<const Expectation*> Expectations::of_device(std::string_view device_name) const {
  std::vector<const Expectation*> rules;
  for (const Device& device : devices_) {
    if (!device.name.is_in(device_name)) continue;
    for (const Expectation& rule : device.rules) rules.push_back(&rule);
  }
  return rules;
}

std::vector<std::pair<std::string, std::string>> Expectations::files_without_device(
    std::span<const std::string> device_names) const {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Device& device : devices_) {
    const auto is_named = [&](const std::string& name) { return device.name.is_in(name); };
    if (device.rules.empty() || std::ranges::any_of(device_names, is_named)) continue;
    files.emplace_back(device.rules.front().where.file, device.text);
  }
  return files;
}

std::vector<fs::path> find_expectations(std::span<const fs::path> case_paths) {
  std::set<fs::path> folders;
  for (const fs::path& path : case_paths) {
    std::error_code error;
    const fs::path absolute = fs::weakly_canonical(path, error);
    if (error) continue;
    const bool is_directory = fs::is_directory(absolute, error);
    if (is_directory) {
      for (fs::path& folder : folders_below(absolute)) folders.insert(std::move(folder));
    }
    const fs::path nearest = nearest_folder(is_directory ? absolute : absolute.parent_path());
    if (!nearest.empty()) folders.insert(nearest);
  }
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : cases::yaml_files_in(folder)) files.push_back(file);
  }
  return files;
}

bool has_all_cases_of(const fs::path& expectation_file, std::span<const fs::path> case_files) {
  std::set<fs::path> known;
  std::error_code error;
  for (const fs::path& file : case_files) known.insert(fs::weakly_canonical(file, error));
  const fs::path folder = fs::weakly_canonical(expectation_file, error).parent_path().parent_path();
  // Stops at the first unknown file, because a folder high up may have very many files below it.
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename() == "expectations") {
      entry.disable_recursion_pending();
    } else if (cases::is_yaml_file(*entry) && !known.contains(fs::weakly_canonical(entry->path(), ignored))) {
      return false;
    }
  }
  return !error;
}

ExpectationsResult load_expectations(std::span<const fs::path> files, std::chrono::sys_days today) {
  Expectations expectations(today);
  cases::Reporter reporter;
  for (const fs::path& file : files) {
    try {
      read_file(file, expectations, reporter);
    } catch (const cases::Problem& problem) {
      reporter.add(problem);
    }
  }
  return {std::move(expectations), reporter.take()};
}

}  // namespace assay
