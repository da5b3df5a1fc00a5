#include "harness/external/manifest/manifest_reader.h"

#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/cases/expansion/file_keys.h"
#include "harness/cases/expansion/param_value.h"
#include "harness/cases/expansion/setting.h"
#include "harness/external/manifest/impl_reader.h"
#include "harness/external/manifest/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::external {
namespace {

using cases::diagnose;
using cases::Problem;
using cases::Problems;

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
  for (const Node* item : entry.value->items) {
    const std::string& word = cases::to_text(*item, {entry.key, "of"});
    if (std::ranges::find(words, word) != words.end())
      throw Problem(diagnose(*item, fmt::format("the choice '{}' has the word '{}' twice", name, word)));
    words.push_back(word);
  }
  return words;
}

void refuse_empty_range(const Node& map, const ParamSpec& spec) {
  const bool is_number = spec.kind == ParamSpec::Kind::Number;
  if (is_number ? spec.min_number <= spec.max_number : spec.min_integer <= spec.max_integer) return;
  const Node::Entry* last = map.find_entry("max");
  if (last == nullptr) last = map.find_entry("min");
  const std::string least = is_number ? shortest(spec.min_number) : std::to_string(spec.min_integer);
  const std::string most = is_number ? shortest(spec.max_number) : std::to_string(spec.max_integer);
  throw Problem(
      diagnose(*last->value, fmt::format("no value is at least {} (min) and at most {} (max)", least, most)));
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
  if (map.find_entry("min") != nullptr || map.find_entry("max") != nullptr) refuse_empty_range(map, spec);
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

/// Reads the call of another op.
class OtherOpReader {
 public:
  OtherOpReader(const Node& map, const Manifest& manifest, const Scope& scope)
      : map_(map), manifest_(manifest), scope_(scope) {}

  DeclaredOtherOp read() {
    static const std::vector<std::string> keys{"op", "with", "tensors"};
    cases::check_keys(map_, keys);
    const Node::Entry& op = *map_.find_entry("op");
    DeclaredOtherOp made{.op = cases::to_text(*op.value, {op.key, "op"}),
                         .where = cases::location_of(*op.value)};
    Problems problems;
    problems.attempt([&] { made.with = arguments(); });
    problems.attempt([&] { made.tensors = tensors(); });
    problems.settle();
    return made;
  }

 private:
  static const Node::Entry* map_at(const Node& map, const std::string& key, const char* what) {
    const Node::Entry* entry = map.find_entry(key);
    if (entry != nullptr && !entry->value->is_map())
      cases::wrong_type(*entry->value, {entry->key, key}, what);
    return entry;
  }

  std::vector<DeclaredArgument> arguments() const {
    const Node::Entry* with = map_at(map_, "with", "a map: the other op's parameters and their values");
    std::vector<DeclaredArgument> made;
    if (with == nullptr) return made;
    Problems problems;
    for (const Node::Entry& one : with->value->entries)
      problems.attempt([&] { made.push_back(argument(one)); });
    problems.settle();
    return made;
  }

  DeclaredArgument argument(const Node::Entry& one) const {
    const cases::Spot spot{one.key, one.key->text};
    DeclaredArgument made{.param = one.key->text, .where = cases::location_of(*one.key), .value = {}};
    if (one.value->is_map()) {
      made.value = quantization(one);
    } else if (one.value->is_list()) {
      std::vector<PlacedExpression> entries;
      for (const Node* item : one.value->items) entries.push_back(expression_of(*item, spot, scope_));
      made.value = std::move(entries);
    } else if (is_word(*one.value)) {
      made.value = one.value->text;
    } else {
      made.value = expression_of(*one.value, spot, scope_);
    }
    return made;
  }

  /// Whether it is a name alone: of a parameter, or a word of a choice.
  static bool is_word(const Node& value) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool is_number = !value.text.empty() && value.text[0] >= '0' && value.text[0] <= '9';
    return value.is_scalar() && !is_number && std::ranges::all_of(value.text, is_letter);
  }

  DeclaredArgument::Quantization quantization(const Node::Entry& one) const {
    static const std::vector<std::string> keys{"scale", "zero_point"};
    cases::check_keys(*one.value, keys);
    const Node::Entry& scale = required(*one.value, "scale", *one.key, "a quantization");
    const Node::Entry& zero_point = required(*one.value, "zero_point", *one.key, "a quantization");
    return {expression_of(*scale.value, {scale.key, "scale"}, scope_),
            expression_of(*zero_point.value, {zero_point.key, "zero_point"}, scope_)};
  }

  std::map<std::string, std::string> tensors() const {
    const Node::Entry* given = map_at(map_, "tensors", "a map: the other op's tensors and those of this one");
    std::map<std::string, std::string> made;
    if (given == nullptr) return made;
    std::vector<std::string> known;
    for (const DeclaredTensor& tensor : manifest_.tensors) known.push_back(tensor.name);
    for (const Node::Entry& one : given->value->entries) {
      const std::string& own = cases::to_text(*one.value, {one.key, one.key->text});
      if (std::ranges::find(known, own) == known.end())
        throw cases::unknown_name(*one.value, "tensor", own, known);
      made[one.key->text] = own;
    }
    return made;
  }

  const Node& map_;
  const Manifest& manifest_;
  const Scope& scope_;
};

/// Reads one manifest. Everything is read, so that no error hides another, unless a part depends on a wrong
/// one.
class ManifestReader {
 public:
  explicit ManifestReader(const Node& root) : root_(root) {
    made_.file = root.file->path();
    made_.text_hash = source_hash(root.file->text());
    made_.folder = made_.file.has_parent_path() ? made_.file.parent_path() : ".";
  }

  Manifest read() {
    Problems problems;
    problems.attempt([&] { cases::check_keys(root_, cases::manifest_keys()); });
    problems.attempt([&] { read_parts(); });
    problems.settle();
    return std::move(made_);
  }

 private:
  void read_parts() {
    read_head();
    if (const Node::Entry* params = root_.find_entry("params")) made_.params = read_params(*params);
    const Scope scope = scope_of(made_.params);
    made_.tensors = read_tensors(entry("tensors"), made_.params, scope, has_class_elsewhere());
    Problems problems;
    problems.attempt([&] { read_work(scope); });
    problems.attempt([&] { made_.reference = read_reference(entry("reference"), made_, scope); });
    problems.attempt([&] { read_include_folders(); });
    problems.attempt([&] { made_.impls = read_impls(entry("impls"), made_, scope); });
    problems.settle();
  }

  const Node::Entry& entry(const std::string& key) const {
    return required(root_, key, *root_.find_entry("op")->key, fmt::format("the manifest of '{}'", made_.op));
  }

  /// Whether another op says how outputs are checked.
  bool has_class_elsewhere() const {
    const Node::Entry* reference = root_.find_entry("reference");
    return reference != nullptr && reference->value->is_map() &&
           reference->value->find_entry("op") != nullptr;
  }

  void read_head() {
    const Node::Entry& op = required(root_, "op", root_, "the manifest");
    made_.op = cases::to_text(*op.value, {op.key, "op"});
    check_name(*op.value, "an op");
    made_.summary = text_in(root_, "summary");
    if (const Node::Entry* version = root_.find_entry("version")) {
      constexpr std::int64_t most = 1'000'000;
      const std::int64_t given = cases::to_integer(*version->value, {version->key, "version"});
      if (given < 1 || given > most)
        throw Problem(diagnose(*version->value, fmt::format("a version is 1 to {}", most)));
      made_.version = static_cast<int>(given);
    }
  }

  void read_work(Scope scope) {
    static const std::vector<std::string> keys{"ops", "bytes_read", "bytes_written"};
    const Node::Entry* work = root_.find_entry("work");
    if (work == nullptr) return;
    if (!work->value->is_map()) cases::wrong_type(*work->value, {work->key, "work"}, "a map with 'ops'");
    cases::check_keys(*work->value, keys);
    for (const DeclaredTensor& tensor : made_.tensors) {
      for (const char* fact : {".shape", ".elements", ".bytes"}) scope.names.push_back(tensor.name + fact);
    }
    const auto expression = [&](const std::string& key) -> std::optional<PlacedExpression> {
      const Node::Entry* given = work->value->find_entry(key);
      if (given == nullptr) return std::nullopt;
      return expression_of(*given->value, {given->key, key}, scope);
    };
    made_.operations = expression("ops");
    made_.bytes_read = expression("bytes_read");
    made_.bytes_written = expression("bytes_written");
  }

  void read_include_folders() {
    const Node::Entry* folders = root_.find_entry("include_folders");
    if (folders == nullptr) return;
    if (!folders->value->is_list())
      cases::wrong_type(*folders->value, {folders->key, "include_folders"}, "a list of folders");
    for (const Node* item : folders->value->items)
      made_.include_folders.push_back(folder_in(made_.folder, *item, {folders->key, "include_folders"}));
  }

  const Node& root_;
  Manifest made_;
};

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

DeclaredReference read_reference(const Node::Entry& entry, const Manifest& so_far, const Scope& scope) {
  const Node& map = *entry.value;
  if (map.is_scalar() && map.text == "cases") return DeclaredByCases{};
  if (!map.is_map()) {
    cases::wrong_type(map, {entry.key, "reference"},
                      "{python: FILE}, {op: NAME}, or `cases` where each case brings its answers");
  }
  if (map.find_entry("op") != nullptr) return OtherOpReader(map, so_far, scope).read();
  static const std::vector<std::string> keys{"python", "function"};
  cases::check_keys(map, keys);
  const Node::Entry& python = required(map, "python", *entry.key, "the reference");
  DeclaredPython made{.file = file_in(so_far.folder, *python.value, {python.key, "python"}),
                      .function = text_in(map, "function")};
  if (made.function.empty()) made.function = so_far.op;
  return made;
}

Manifest read_manifest(const Node& root) {
  return ManifestReader(root).read();
}

}  // namespace assay::external
