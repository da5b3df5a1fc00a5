#include "harness/cases/expectations.h"

#include "harness/base/error.h"
#include "harness/cases/case_files.h"
#include "harness/cases/reporter.h"
#include "harness/cases/scalars.h"
#include "harness/cases/select.h"
#include "harness/cases/setting.h"
#include "harness/cases/source_file.h"
#include "harness/cases/yaml_parser.h"
#include "harness/cases/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

namespace assay {
namespace {

namespace fs = std::filesystem;
using cases::Node;

const Node::Entry& member(const Node& map, const std::string& key, const Node& caret) {
  const Node::Entry* entry = map.find_entry(key);
  if (entry == nullptr)
    throw cases::Problem(cases::diagnose(caret, fmt::format("'{}' is missing here", key)));
  return *entry;
}

const std::string& text_of(const Node::Entry& entry) {
  const std::string& text = cases::to_text(*entry.value, {entry.key, entry.key->text});
  if (text.empty())
    throw cases::Problem(cases::diagnose(*entry.key, fmt::format("'{}' is empty", entry.key->text)));
  return text;
}

Expectations::Rule read_rule(const Node& node) {
  static const std::array<std::string, 3> keys{"match", "status", "reason"};
  static const std::array<std::string, 2> statuses{"fail", "skip"};
  if (!node.is_map()) {
    throw cases::Problem(
        cases::diagnose(node, "a rule is a map {match: GLOB, status: fail|skip, reason: TEXT}"));
  }
  cases::check_keys(node, keys);
  Expectations::Rule rule;
  rule.glob = text_of(member(node, "match", node));
  const Node::Entry& status = member(node, "status", node);
  const std::string& name = text_of(status);
  if (name != statuses[0] && name != statuses[1]) {
    throw cases::unknown_name(*status.key, "status", name, statuses);
  }
  rule.expectation.kind = name == statuses[0] ? Expectation::Kind::Fail : Expectation::Kind::Skip;
  rule.expectation.reason = text_of(member(node, "reason", node));
  rule.expectation.where = cases::location_of(node);
  return rule;
}

Pattern read_device(const Node::Entry& entry) {
  constexpr std::size_t longest = 200;  // a longer one is a mistake
  const std::string& text = text_of(entry);
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

/// A bad rule is reported and left out.
void read_rules(const Node::Entry& entry, Expectations::Device& device, cases::Reporter& reporter) {
  if (!entry.value->is_list()) cases::wrong_type(*entry.value, {entry.key, "expect"}, "a list of rules");
  for (const Node* node : entry.value->items) {
    try {
      if (node->is_null()) throw cases::Problem(cases::diagnose(*entry.key, "a rule of the list is empty"));
      if (node->flawed) {
        reporter.add_flaws(*node);
      } else {
        device.rules.push_back(read_rule(*node));
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
  Expectations::Device device{read_device(member(*root, "device", *root)), {}};
  read_rules(member(*root, "expect", *root), device, reporter);
  expectations.add(std::move(device));
}

/// The nearest folder `expectations` in `directory` or above it.
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

std::optional<Expectation> Expectations::find(std::string_view device_name, std::string_view case_id) const {
  for (const Device& device : devices_) {
    if (!device.name.is_in(device_name)) continue;
    for (const Rule& rule : device.rules) {
      if (glob_matches(rule.glob, case_id)) return rule.expectation;
    }
  }
  return std::nullopt;
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

ExpectationsResult load_expectations(std::span<const fs::path> files) {
  Expectations expectations;
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
