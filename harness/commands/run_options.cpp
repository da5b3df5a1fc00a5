#include "harness/commands/run_options.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/cases/select.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/external/load_ops.h"
#include "harness/report/record/rows_to_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

namespace assay::app {

std::vector<std::filesystem::path> data_folders(const char* name) {
  std::error_code error;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {name, binary / name, binary / "../share/assay" / name};
}

std::string no_such_op(const std::string& name, const Registry& registry) {
  std::vector<std::string> names;
  for (const Op& op : registry.ops()) names.push_back(op.name);
  const std::string meant = cases::nearest(name, names);
  return fmt::format("there is no op '{}'{}", printable_line(name),
                     meant.empty() ? "; `assay ops` lists them" : fmt::format("; did you mean '{}'?", meant));
}

void refuse_unknown_ops(std::span<const std::string> patterns, const Registry& registry,
                        const std::string& doing) {
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const Op& op) { return glob_matches(pattern, op.name); };
    if (std::ranges::none_of(registry.ops(), matches))
      throw Error(doing + ": " + no_such_op(pattern, registry));
  }
}

namespace {

/// "; did you mean --impl 'tiled'?" for asked names that no case has.
template <class NameOf>
std::string meant_name(const char* option, const std::vector<std::string>& asked, std::span<const Case> cases,
                       NameOf name_of) {
  std::set<std::string> names;
  for (const Case& test_case : cases) names.insert(name_of(test_case));
  const std::vector<std::string> known(names.begin(), names.end());
  std::string text;
  for (const std::string& name : asked) {
    if (std::ranges::any_of(known, [&](const std::string& one) { return glob_matches(name, one); })) continue;
    const std::string meant = cases::nearest(name, known);
    if (!meant.empty()) text += fmt::format("; did you mean {} '{}'?", option, meant);
    if (meant.empty() && !known.empty())
      text += fmt::format("; known for {} are: {}", option, fmt::join(known, ", "));
  }
  return text;
}

/// Hints for the options that select nothing even on their own; empty if each selects something.
std::string what_may_be_meant(const CaseOptions& options, std::span<const Case> cases) {
  if (cases.empty()) return "";
  std::vector<std::string_view> ids;
  for (const Case& test_case : cases) ids.push_back(test_case.id);
  std::string text;
  const auto passes = [&](const Case& test_case) { return filter_matches(options.filter, test_case); };
  if (std::ranges::none_of(cases, passes)) text += near_filter_text(options.filter, ids);
  text += meant_name("--op", options.ops, cases, [](const Case& c) { return c.op->name; });
  text += meant_name("--impl", options.impls, cases, [](const Case& c) { return c.impl->name; });
  const Selection selection = options.selection();
  if (select(cases, {.mode = selection.mode}).empty()) text += "; no case has that mode";
  if (select(cases, {.tiers = selection.tiers}).empty()) text += "; no case has that tier";
  return text;
}

/// Two variables that together name a shard.
struct ShardVariables {
  const char* index;
  const char* total;
  int first;             ///< index of the first shard
  bool total_may_stand;  ///< a total of 1 may be set if there are no shards
};
constexpr std::array variables{ShardVariables{"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0, false},
                               ShardVariables{"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", 0, false},
                               ShardVariables{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1, true}};

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

std::optional<AskedShard> shard_in(const ShardVariables& family, const Environment& environment) {
  const std::string index_text = value_of(environment, family.index);
  const std::string total_text = value_of(environment, family.total);
  if (index_text.empty() && (total_text.empty() || (family.total_may_stand && total_text == "1")))
    return std::nullopt;
  const std::optional<int> index = number_in(index_text);
  const std::optional<int> total = number_in(total_text);
  if (!index || !total || *total < 1 || *total > most_shards || *index < family.first ||
      *index - family.first >= *total) {
    throw Error(
        fmt::format("choosing a shard: {}='{}' and {}='{}' do not name one; the index counts from {} to {}",
                    family.index, shortened(index_text, 20), family.total, shortened(total_text, 20),
                    family.first, family.first == 0 ? "the total minus one" : "the total"));
  }
  return AskedShard{{*index - family.first + 1, *total}, fmt::format("{} of {}", family.index, family.total)};
}

}  // namespace

std::vector<std::filesystem::path> CaseOptions::paths(const std::filesystem::path& untrusted) const {
  const auto is_untrusted = [&](const std::filesystem::path& path) {
    return !untrusted.empty() && is_inside(path, untrusted);
  };
  for (const auto* chosen : {&files, &op_folders}) {
    for (const std::filesystem::path& file : *chosen) {
      if (!is_untrusted(file)) continue;
      throw Error(
          fmt::format("choosing cases: '{}' is inside '{}', which does not choose what it is judged by",
                      file.string(), untrusted.string()));
    }
  }
  for (const std::filesystem::path& folder : op_folders) {
    if (untrusted.empty() || !is_inside(untrusted, folder)) continue;
    throw Error(fmt::format(
        "choosing cases: '{}' is inside '{}', the folder of --ops: keep what is judged apart from "
        "what it is judged by",
        untrusted.string(), folder.string()));
  }
  if (!files.empty()) return files;
  if (!op_folders.empty()) return manifests();
  for (const std::filesystem::path& candidate : data_folders("cases")) {
    if (std::filesystem::is_directory(candidate) && !is_untrusted(candidate)) return {candidate};
  }
  throw Error(fmt::format("looking for cases: there is no folder cases/ {}{}; give case files or folders",
                          data_places,
                          untrusted.empty() ? "" : fmt::format(", outside of '{}'", untrusted.string())));
}

/// The manifests of `op_folders`; a folder without any is returned itself: load_ops() reports the error.
std::vector<std::filesystem::path> CaseOptions::manifests() const {
  std::vector<std::filesystem::path> all;
  for (const std::filesystem::path& folder : op_folders) {
    const std::vector<std::filesystem::path> here = external::manifests_in(folder);
    all.insert(all.end(), here.begin(), here.end());
    if (here.empty()) all.push_back(folder);
  }
  return all;
}

std::vector<std::filesystem::path> CaseOptions::expectation_files() const {
  std::vector<std::filesystem::path> all = app::expectation_files(expectations);
  for (const std::filesystem::path& file : find_expectations(paths())) {
    std::error_code error;
    const auto is_this = [&](const auto& other) { return std::filesystem::equivalent(file, other, error); };
    if (std::ranges::none_of(all, is_this)) all.push_back(file);
  }
  return all;
}

bool CaseOptions::has_all_cases(const std::filesystem::path& expectation_file,
                                std::span<const std::filesystem::path> loaded) const {
  const auto is_file = [](const std::filesystem::path& path) { return !std::filesystem::is_directory(path); };
  const std::vector<std::filesystem::path> own = app::expectation_files(expectations);
  if (std::ranges::find(own, expectation_file) == own.end())
    return has_all_cases_of(expectation_file, loaded);
  return std::ranges::none_of(files, is_file);  // rules kept elsewhere are about all cases
}

std::vector<std::filesystem::path> expectation_files(std::span<const std::filesystem::path> places) {
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& place : places) {
    std::vector<std::filesystem::path> here{place};
    if (std::filesystem::is_directory(place)) here = cases::yaml_files_in(place);
    if (here.empty() && !std::filesystem::is_empty(place)) {
      throw Error(fmt::format("reading rules: there is no file with rules (*.yaml) in the folder '{}'",
                              printable_line(place.string())));
    }
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

Selection CaseOptions::selection() const {
  Selection selection{.filter = filter, .impls = impls, .ops = ops};
  // A replay runs the accuracy of cases of any mode.
  if (!replays && !mode.empty() && mode != name_of(Mode::Both)) selection.mode = parse_mode(mode);
  for (const std::string& tier : tiers) selection.tiers.push_back(parse_tier(tier).value());
  return selection;
}

bool CaseOptions::is_narrowed() const {
  return nodes || replays || !values.empty() || !filter.empty() || !ops.empty() || !impls.empty() ||
         selection().mode.has_value();
}

bool CaseOptions::is_partial() const {
  const auto is_file = [](const std::filesystem::path& path) { return !std::filesystem::is_directory(path); };
  return is_narrowed() || std::ranges::any_of(files, is_file);
}

void throw_nothing_selected(const CaseOptions& options, std::span<const Case> cases) {
  if (options.nodes && cases.empty())
    throw Error("choosing cases: --nodes takes the nodes of chains, and no case is one of a chain");
  const bool are_gone = !options.values.empty() && cases.empty();
  std::string by;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) by += fmt::format("{}{} '{}'", by.empty() ? "" : ", ", option, value);
  };
  add("--filter", options.filter);
  for (const std::string& op : options.ops) add("--op", op);
  for (const std::string& impl : options.impls) add("--impl", impl);
  for (const std::string& tier : options.tiers) add("--tier", tier);
  for (const std::string& value : options.values) add("--set", value);
  add("--mode", options.mode);
  throw Error(fmt::format("choosing cases: {} is selected{}{}{}; `assay list` without options shows all ids",
                          are_gone ? "no case" : fmt::format("none of {}", cases.size()),
                          by.empty() ? "" : " by ", by, what_may_be_meant(options, cases)));
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::optional<int> index = number_in(std::string_view(text).substr(0, slash));
  const std::optional<int> count =
      slash == text.npos ? std::nullopt : number_in(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1 || *count > most_shards || *index < 1 || *index > *count) {
    throw Error(
        fmt::format("choosing a shard: --shard '{}' is not a shard; write 2/8 for the second of eight",
                    shortened(text, 40)));
  }
  return {*index, *count};
}

std::optional<AskedShard> asked_shard(const std::string& option, const Environment& environment) {
  std::optional<AskedShard> asked;
  if (!option.empty()) asked = AskedShard{parse_shard(option), "--shard"};
  for (const ShardVariables& family : variables) {
    if (!asked) asked = shard_in(family, environment);
  }
  return asked && asked->shard.count > 1 ? asked : std::nullopt;
}

void touch_shard_status_files(const Environment& environment) {
  for (const char* name : {"GTEST_SHARD_STATUS_FILE", "TEST_SHARD_STATUS_FILE"}) {
    const std::string path = value_of(environment, name);
    if (!path.empty()) write_named_file(path, "");
  }
}

}  // namespace assay::app
