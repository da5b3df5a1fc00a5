#include "harness/external/manifest/param_reader.h"

#include "harness/cases/expansion/param_value.h"
#include "harness/cases/expansion/setting.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::external {
namespace {

using cases::diagnose;
using cases::Problem;

const std::vector<std::string>& types() {
  static const std::vector<std::string> all{"shape",  "integer", "number", "boolean",
                                            "choice", "ints",    "qparams"};
  return all;
}

/// `rank: 2` or `rank: [1, 4]`.
Rank rank_of(const Node& map) {
  const Node::Entry* entry = map.find_entry("rank");
  constexpr int most = 8;
  if (entry == nullptr) return {};
  const auto number = [&](const Node& value) {
    const std::int64_t given = cases::to_integer(value, {entry->key, "rank"});
    if (given < 1 || given > most)
      throw Problem(diagnose(value, fmt::format("a rank is 1 to {}, and this is {}", most, given)));
    return static_cast<int>(given);
  };
  if (!entry->value->is_list()) return rank(number(*entry->value));
  if (entry->value->items.size() != 2) {
    cases::wrong_type(*entry->value, {entry->key, "rank"},
                      "a number of dims, or the least and the most: [1, 4]");
  }
  const Rank given{number(*entry->value->items[0]), number(*entry->value->items[1])};
  if (given.min > given.max) throw Problem(diagnose(*entry->value, "the least rank comes first"));
  return given;
}

std::vector<std::string> words_of(const Node& map, const Node& caret, const std::string& name) {
  const Node::Entry& entry = required(map, "of", caret, fmt::format("the choice '{}'", name));
  if (!entry.value->is_list() || entry.value->items.empty())
    cases::wrong_type(*entry.value, {entry.key, "of"}, "a list of words");
  std::vector<std::string> words;
  for (const Node* item : entry.value->items) words.push_back(cases::to_text(*item, {entry.key, "of"}));
  return words;
}

void set_range(const Node& map, ParamSpec& spec) {
  for (const std::string key : {"min", "max"}) {
    const Node::Entry* entry = map.find_entry(key);
    if (entry == nullptr) continue;
    const bool is_least = key == "min";
    if (spec.kind == ParamSpec::Kind::Number) {
      (is_least ? spec.min_number : spec.max_number) = cases::to_number(*entry->value, {entry->key, key});
    } else {
      (is_least ? spec.min_integer : spec.max_integer) = cases::to_integer(*entry->value, {entry->key, key});
    }
  }
}

ParamSpec spec_of(const std::string& type, const Node& key, const Node& map) {
  const std::string& name = key.text;
  if (type == "shape") return shape(name, rank_of(map));
  if (type == "integer") return integer(name);
  if (type == "number") return number(name);
  if (type == "boolean") return boolean(name);
  if (type == "choice") return choice(name, words_of(map, key, name));
  if (type == "ints") return ints(name, rank_of(map));
  return qparams(name);
}

std::vector<std::string> keys_of(const std::string& type) {
  std::vector<std::string> keys{"type", "default", "doc"};
  if (type == "shape" || type == "ints") keys.emplace_back("rank");
  if (type == "integer" || type == "number" || type == "ints") keys.insert(keys.end(), {"min", "max"});
  if (type == "choice") keys.emplace_back("of");
  return keys;
}

ParamSpec param_of(const Node::Entry& entry) {
  check_name(*entry.key, "a parameter");
  const std::string& name = entry.key->text;
  if (cases::is_reserved(name)) {
    throw Problem(diagnose(
        *entry.key, fmt::format("'{}' is a key of the case language: name the parameter otherwise", name)));
  }
  if (!entry.value->is_map())
    cases::wrong_type(*entry.value, {entry.key, name}, "a map with a type: {type: shape, rank: 2}");
  const Node::Entry& said =
      required(*entry.value, "type", *entry.key, fmt::format("the parameter '{}'", name));
  const std::string& type = cases::to_text(*said.value, {said.key, "type"});
  if (std::ranges::find(types(), type) == types().end())
    throw cases::unknown_name(*said.value, "type of parameter", type, types());
  cases::check_keys(*entry.value, keys_of(type));
  ParamSpec spec = spec_of(type, *entry.key, *entry.value);
  set_range(*entry.value, spec);
  spec.doc = text_in(*entry.value, "doc");
  if (const Node::Entry* fallback = entry.value->find_entry("default"))
    spec.fallback = cases::to_value(spec, {fallback->key, fallback->value}, {});
  return spec;
}

}  // namespace

std::vector<ParamSpec> read_params(const Node::Entry& entry) {
  if (!entry.value->is_map())
    cases::wrong_type(*entry.value, {entry.key, "params"}, "a map of parameters by name");
  std::vector<ParamSpec> params;
  cases::Problems problems;
  for (const Node::Entry& one : entry.value->entries)
    problems.attempt([&] { params.push_back(param_of(one)); });
  problems.settle();
  return params;
}

Scope scope_of(const std::vector<ParamSpec>& params) {
  Scope scope;
  for (const ParamSpec& param : params) {
    if (param.kind == ParamSpec::Kind::QParams) {
      scope.names.push_back(param.name + ".scale");
      scope.names.push_back(param.name + ".zero_point");
    } else {
      scope.names.push_back(param.name);
    }
    if (param.kind == ParamSpec::Kind::Choice) scope.choices[param.name] = param.choices;
  }
  return scope;
}

}  // namespace assay::external
