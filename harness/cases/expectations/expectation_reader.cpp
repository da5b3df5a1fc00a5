#include "harness/cases/expectations/expectation_reader.h"

#include "harness/cases/expansion/setting.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/op/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

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
    if (name == skip)
      throw Problem(
          diagnose(*item, "'skip' cannot be combined with other statuses: a skipped row has none to expect"));
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
