#include "harness/cases/expectations/expectations.h"

#include "harness/base/error.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/select.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"
#include "harness/cases/yaml/yaml_tree.h"
#include "harness/op/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <system_error>

namespace assay {
namespace {

/// Returns whether `pairs` contains "name=value".
bool has_pair(std::string_view pairs, const std::string& name, const std::string& value) {
  while (!pairs.empty()) {
    const std::size_t end = std::min(pairs.find(' '), pairs.size());
    const std::string_view pair = pairs.substr(0, end);
    const bool is_name = pair.starts_with(name) && pair.substr(name.size()).starts_with('=');
    if (is_name) return pair.substr(name.size() + 1) == value;
    pairs.remove_prefix(std::min(end + 1, pairs.size()));
  }
  return false;
}

/// Parses decimal digits only.
std::optional<int> parse_digits(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && text[0] != '-';
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

bool Expectation::matches(const RowWords& row) const {
  const bool is_meant =
      glob_matches(match, row.id) || (!row.case_id.empty() && glob_matches(match, row.case_id));
  return is_meant && (mode.empty() || mode == row.mode) && (impl.empty() || glob_matches(impl, row.impl)) &&
         std::ranges::all_of(
             params, [&](const auto& param) { return has_pair(row.params, param.first, param.second); });
}

std::span<const std::string_view> failure_metrics() {
  static constexpr std::array<std::string_view, 19> metrics{"wrong_value",
                                                            "unwritten",
                                                            "write_out_of_bounds",
                                                            "depends_on_padding",
                                                            "reads_out_of_bounds",
                                                            "reads_uninitialized",
                                                            "depends_on_old_output",
                                                            "nondeterministic",
                                                            "input_modified",
                                                            "scratch_not_zero",
                                                            "too_many_flips",
                                                            "all_zeros",
                                                            "constant",
                                                            "copied_input",
                                                            "shifted",
                                                            "saturated",
                                                            no_answer,
                                                            layer_messages,
                                                            later_run};
  return metrics;
}

bool Expectation::expects(Status status, std::string_view metric) const {
  if (kind != Kind::Fail || std::ranges::find(statuses, status) == statuses.end()) return false;
  const bool has_metric = status == Status::Fail || status == Status::Mistrusted;
  return metrics.empty() || !has_metric || std::ranges::find(metrics, metric) != metrics.end();
}

std::string Expectation::why() const {
  return link.empty() ? reason : reason + ", " + link;
}

std::chrono::sys_days today_utc() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::string date_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
  constexpr std::size_t length = 10;  // "2026-01-31"
  if (text.size() != length || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<int> year = parse_digits(text.substr(0, 4));
  const std::optional<int> month = parse_digits(text.substr(5, 2));
  const std::optional<int> day = parse_digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

}  // namespace assay

namespace assay::cases {
namespace {

constexpr const char* skip = "skip";

/// Statuses that a rule may expect of a row that runs.
constexpr std::array expectable{Status::Fail,       Status::Crash,   Status::Timeout,    Status::OutOfMemory,
                                Status::DeviceLost, Status::Suspect, Status::Mistrusted, Status::Flaky};

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Returns "fail", "skip", "crash", ...
const std::vector<std::string>& status_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made{skip};
    for (const Status status : expectable) made.push_back(lower_case(name_of(status)));
    return made;
  }();
  return names;
}

/// Returns the name of a status in lower case. Rules may write it in capitals, as reports do.
std::string status_name(const Node& node, const Node& caret) {
  std::string name = lower_case(to_text(node, {&caret, "status"}));
  if (name.empty()) throw Problem(diagnose(caret, "'status' is empty"));
  if (std::ranges::find(status_names(), name) == status_names().end())
    throw unknown_name(caret, "status", name, status_names());
  return name;
}

Status expectable_of(const std::string& name) {
  return *std::ranges::find_if(expectable,
                               [&](Status status) { return lower_case(name_of(status)) == name; });
}

void read_statuses(const Node::Entry& entry, Expectation& rule) {
  rule.statuses.clear();
  if (!entry.value->is_list()) {
    const std::string name = status_name(*entry.value, *entry.key);
    if (name == skip) {
      rule.kind = Expectation::Kind::Skip;
    } else {
      rule.statuses.push_back(expectable_of(name));
    }
    return;
  }
  for (const Node* item : entry.value->items) {
    const std::string name = status_name(*item, item->is_scalar() ? *item : *entry.key);
    if (name == skip) {
      throw Problem(
          diagnose(*item, "'skip' cannot be combined with other statuses: a skipped row has none to expect"));
    }
    rule.statuses.push_back(expectable_of(name));
  }
  if (rule.statuses.empty()) throw Problem(diagnose(*entry.key, "'status' is an empty list"));
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names(failure_metrics().begin(), failure_metrics().end());
  return names;
}

/// Reads `metric`, one name or a list. Call it once the statuses are known.
void read_metrics(const Node::Entry& entry, Expectation& rule) {
  const auto read = [&](const Node& node, const Node& caret) {
    const std::string& name = to_text(node, {&caret, "metric"});
    if (std::ranges::find(metric_names(), name) == metric_names().end())
      throw unknown_name(caret, "metric", name, metric_names());
    rule.metrics.push_back(name);
  };
  const Node& value = *entry.value;
  if (!value.is_list()) {
    read(value, *entry.key);
  } else {
    for (const Node* item : value.items) read(*item, item->is_scalar() ? *item : *entry.key);
  }
  if (rule.metrics.empty()) throw Problem(diagnose(*entry.key, "'metric' is an empty list"));
  const auto has = [&](Status status) {
    return std::ranges::find(rule.statuses, status) != rule.statuses.end();
  };
  if (rule.kind == Expectation::Kind::Fail && (has(Status::Fail) || has(Status::Mistrusted))) return;
  throw Problem(
      diagnose(*entry.key, "'metric' says how a row fails, so 'status' must have fail or mistrusted"));
}

Value read_qparams(const Node& map, const Node::Entry& param) {
  static const std::array<std::string, 2> keys{"scale", "zero_point"};
  check_keys(map, keys);
  const Node::Entry& scale = required(map, "scale", *param.key);
  const Node::Entry& zero_point = required(map, "zero_point", *param.key);
  const Spot spot{zero_point.key, "zero_point"};
  const std::int64_t integer = to_integer(*zero_point.value, spot);
  if (integer != static_cast<std::int32_t>(integer)) wrong_type(*zero_point.value, spot, "a 32-bit integer");
  return QParams{to_float32(*scale.value, {scale.key, "scale"}), static_cast<std::int32_t>(integer)};
}

/// Returns the value as ids and reports write it.
std::string param_text(const Node::Entry& param) {
  const Node& value = *param.value;
  const std::string& name = param.key->text;
  if (value.is_map()) return to_string(read_qparams(value, param));
  if (value.is_list()) {
    std::vector<std::int64_t> numbers;
    for (const Node* item : value.items) numbers.push_back(to_integer(*item, {param.key, name}));
    return to_string(Value(std::move(numbers)));
  }
  if (const auto integer = as_integer(value)) return to_string(Value(*integer));
  if (const auto number = as_number(value)) return to_string(Value(*number));
  return filled_text(param);
}

void read_params(const Node::Entry& entry, Expectation& rule) {
  const Node& map = *entry.value;
  if (!map.is_map() || map.entries.empty())
    wrong_type(map, {entry.key, "params"}, "a map of parameters and their values");
  for (const Node::Entry& param : map.entries) rule.params.emplace_back(param.key->text, param_text(param));
}

std::string read_mode(const Node::Entry& entry) {
  static const std::array<std::string, 2> modes{"accu", "perf"};
  const std::string& mode = filled_text(entry);
  if (std::ranges::find(modes, mode) == modes.end()) throw unknown_name(*entry.key, "mode", mode, modes);
  return mode;
}

std::chrono::sys_days read_expires(const Node::Entry& entry) {
  const std::string& text = filled_text(entry);
  if (const auto day = parse_date(text)) return *day;
  throw Problem(diagnose(*entry.key, fmt::format("'expires' must be a date YYYY-MM-DD, got '{}'", text)));
}

}  // namespace

const Node::Entry& required(const Node& map, const std::string& key, const Node& caret) {
  const Node::Entry* entry = map.find_entry(key);
  if (entry == nullptr) throw Problem(diagnose(caret, fmt::format("'{}' is missing here", key)));
  return *entry;
}

const std::string& filled_text(const Node::Entry& entry) {
  const std::string& text = to_text(*entry.value, {entry.key, entry.key->text});
  if (text.empty()) throw Problem(diagnose(*entry.key, fmt::format("'{}' is empty", entry.key->text)));
  return text;
}

Expectation read_expectation(const Node& node) {
  static const std::array<std::string, 9> keys{"match",  "params", "mode", "impl",   "status",
                                               "metric", "reason", "link", "expires"};
  if (!node.is_map())
    throw Problem(diagnose(node, "a rule is a map {match: GLOB, status: fail|skip|..., reason: TEXT}"));
  check_keys(node, keys);
  Expectation rule;
  rule.match = filled_text(required(node, "match", node));
  if (const Node::Entry* params = node.find_entry("params")) read_params(*params, rule);
  if (const Node::Entry* mode = node.find_entry("mode")) rule.mode = read_mode(*mode);
  if (const Node::Entry* impl = node.find_entry("impl")) rule.impl = filled_text(*impl);
  if (const Node::Entry* status = node.find_entry("status")) read_statuses(*status, rule);
  if (const Node::Entry* metric = node.find_entry("metric")) read_metrics(*metric, rule);
  rule.reason = filled_text(required(node, "reason", node));
  if (const Node::Entry* link = node.find_entry("link")) rule.link = filled_text(*link);
  if (const Node::Entry* expires = node.find_entry("expires")) rule.expires = read_expires(*expires);
  rule.where = location_of(node);
  return rule;
}

}  // namespace assay::cases

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
