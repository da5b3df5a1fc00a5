#include "harness/external/manifest/impl_reader.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::external {
namespace {

using cases::diagnose;
using cases::Problem;
using cases::Problems;

/// Names of a device's limits.
const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names{
      "device.max_workgroup_invocations", "device.max_workgroup_size", "device.max_workgroup_count",
      "device.max_shared_bytes",          "device.subgroup_size",      "device.shader_cores"};
  return names;
}

/// Reads one impl.
class ImplReader {
 public:
  ImplReader(const Node::Entry& entry, const Manifest& manifest, Scope params)
      : key_(*entry.key), map_(*entry.value), manifest_(manifest), points_(std::move(params)) {}

  DeclaredImpl read() {
    static const std::vector<std::string> keys{"summary",  "ceiling", "tunables",
                                               "excludes", "scratch", "dispatches"};
    check_name(key_, "an impl");
    impl_.name = key_.text;
    if (impl_.name == "auto") throw Problem(diagnose(key_, "'auto' stands for the impl that assay chooses"));
    if (impl_.name == "all") throw Problem(diagnose(key_, "'all' stands for every impl of an op"));
    if (!map_.is_map()) cases::wrong_type(map_, {&key_, key_.text}, "a map with 'dispatches'");
    cases::check_keys(map_, keys);
    impl_.summary = text_in(map_, "summary");
    read_ceiling();
    read_tunables();
    make_scopes();
    Problems problems;
    problems.attempt([&] { read_exclusions(); });
    problems.attempt([&] { read_scratch(); });
    problems.attempt([&] { read_dispatches(); });
    problems.settle();
    return std::move(impl_);
  }

 private:
  void read_ceiling() {
    const Node::Entry* given = map_.find_entry("ceiling");
    if (given == nullptr) return;
    const std::string& text = cases::to_text(*given->value, {given->key, "ceiling"});
    std::vector<std::string> known;
    for (const Ceiling one : {Ceiling::Bandwidth, Ceiling::Fp32, Ceiling::Fp16, Ceiling::Dot4x8,
                              Ceiling::CoopInt8, Ceiling::CoopFp16}) {
      known.emplace_back(name_of(one));
      if (name_of(one) == text) impl_.ceiling = one;
    }
    if (std::ranges::find(known, text) == known.end())
      throw cases::unknown_name(*given->value, "ceiling", text, known);
  }

  void read_tunables() {
    const Node::Entry* given = map_.find_entry("tunables");
    if (given == nullptr) return;
    if (!given->value->is_map())
      cases::wrong_type(*given->value, {given->key, "tunables"}, "a map: {local: [64, 128]}");
    for (const Node::Entry& one : given->value->entries) impl_.tunables.push_back(tunable_of(one));
  }

  static std::int64_t tunable_value(const Node& value, const cases::Spot& spot) {
    const std::int64_t given = cases::to_integer(value, spot);
    if (given >= 0) return given;
    throw Problem(diagnose(value, fmt::format("a tunable is at least 0, and this is {}", given)));
  }

  static void add_allowed(Tunable& tunable, const Node& item, const cases::Spot& spot) {
    const std::int64_t value = tunable_value(item, spot);
    if (std::ranges::find(tunable.allowed, value) != tunable.allowed.end())
      throw Problem(diagnose(item, fmt::format("'{}' has the value {} twice", tunable.name, value)));
    tunable.allowed.push_back(value);
  }

  Tunable tunable_of(const Node::Entry& entry) const {
    static const std::vector<std::string> keys{"min", "max", "default", "doc"};
    check_name(*entry.key, "a tunable");
    Tunable tunable{.name = entry.key->text};
    if (points_.has(tunable.name)) {
      throw Problem(diagnose(
          *entry.key,
          fmt::format("'{}' is a parameter, too: expressions could not tell them apart", tunable.name)));
    }
    const cases::Spot spot{entry.key, tunable.name};
    if (entry.value->is_list() && !entry.value->items.empty()) {
      for (const Node* item : entry.value->items) add_allowed(tunable, *item, spot);
      tunable.fallback = tunable.allowed.front();
      std::ranges::sort(tunable.allowed);
      tunable.min = tunable.allowed.front();
      tunable.max = tunable.allowed.back();
      return tunable;
    }
    if (!entry.value->is_map()) {
      cases::wrong_type(*entry.value, spot,
                        "a list of values, the default first, or {min: .., max: .., default: ..}");
    }
    cases::check_keys(*entry.value, keys);
    const auto number = [&](const std::string& key) {
      const Node::Entry& part =
          required(*entry.value, key, *entry.key, fmt::format("the tunable '{}'", tunable.name));
      return tunable_value(*part.value, {part.key, key});
    };
    tunable.min = number("min");
    tunable.max = number("max");
    tunable.fallback = number("default");
    tunable.doc = text_in(*entry.value, "doc");
    if (tunable.allows(tunable.fallback)) return tunable;
    throw Problem(diagnose(
        *entry.key, fmt::format("the default of '{}' is not in {}", tunable.name, tunable.range_text())));
  }

  /// Exclusions see parameters and tunables, scratch and dispatches the tensors and the device, too.
  void make_scopes() {
    for (const Tunable& tunable : impl_.tunables) points_.names.push_back(tunable.name);
    for (const DeclaredTensor& tensor : manifest_.tensors) {
      for (const char* fact : {".shape", ".elements", ".bytes"}) points_.names.push_back(tensor.name + fact);
    }
    here_ = points_;
    here_.names.insert(here_.names.end(), device_names().begin(), device_names().end());
  }

  void read_exclusions() {
    static const std::vector<std::string> keys{"when", "because"};
    const Node::Entry* given = map_.find_entry("excludes");
    if (given == nullptr) return;
    if (!given->value->is_list())
      cases::wrong_type(*given->value, {given->key, "excludes"}, "a list of {when: .., because: ..}");
    for (const Node* item : given->value->items) {
      if (!item->is_map()) cases::wrong_type(*item, {item, "excludes"}, "a map with 'when' and 'because'");
      cases::check_keys(*item, keys);
      const Node::Entry& when = required(*item, "when", *item, "an exclusion");
      const Node::Entry& because = required(*item, "because", *item, "an exclusion");
      impl_.exclusions.push_back({expression_of(*when.value, {when.key, "when"}, points_),
                                  cases::to_text(*because.value, {because.key, "because"})});
    }
  }

  void read_scratch() {
    static const std::vector<std::string> keys{"dtype", "shape", "zero"};
    const Node::Entry* given = map_.find_entry("scratch");
    if (given == nullptr) return;
    if (!given->value->is_map())
      cases::wrong_type(*given->value, {given->key, "scratch"}, "a map of buffers by name");
    for (const Node::Entry& one : given->value->entries) {
      check_name(*one.key, "scratch");
      if (std::ranges::find(manifest_.tensors, one.key->text, &DeclaredTensor::name) !=
          manifest_.tensors.end()) {
        throw Problem(diagnose(
            *one.key, fmt::format("'{}' is a tensor, too: name the scratch otherwise", one.key->text)));
      }
      if (!one.value->is_map())
        cases::wrong_type(*one.value, {one.key, one.key->text}, "a map with 'dtype' and 'shape'");
      cases::check_keys(*one.value, keys);
      const std::string what = fmt::format("the scratch '{}'", one.key->text);
      DeclaredScratch scratch{.name = one.key->text,
                              .dtype = dtype_of(required(*one.value, "dtype", *one.key, what), points_)};
      const Node::Entry& shape = required(*one.value, "shape", *one.key, what);
      if (!shape.value->is_list() || shape.value->items.empty())
        cases::wrong_type(*shape.value, {shape.key, "shape"}, "a list of sizes and expressions");
      for (const Node* item : shape.value->items)
        scratch.shape.push_back(expression_of(*item, {shape.key, "shape"}, here_));
      if (const Node::Entry* zero = one.value->find_entry("zero"))
        scratch.is_zero_between_runs = cases::to_boolean(*zero->value, {zero->key, "zero"});
      impl_.scratch.push_back(std::move(scratch));
    }
  }

  void read_dispatches() {
    const Node::Entry& given = required(map_, "dispatches", key_, fmt::format("the impl '{}'", impl_.name));
    if (!given.value->is_list() || given.value->items.empty()) {
      cases::wrong_type(*given.value, {given.key, "dispatches"},
                        "a list of dispatches, each a map with 'shader'");
    }
    Problems problems;
    for (const Node* item : given.value->items)
      problems.attempt([&] { impl_.dispatches.push_back(dispatch_of(*item)); });
    problems.settle();
  }

  DeclaredDispatch dispatch_of(const Node& item) const {
    static const std::vector<std::string> keys{"label",      "shader",    "role",          "when",
                                               "workgroups", "constants", "push",          "uniforms",
                                               "bind",       "defines",   "subgroup_size", "local_size"};
    if (!item.is_map()) cases::wrong_type(item, {&item, "dispatches"}, "a map with 'shader'");
    Problems problems;
    problems.attempt([&] { cases::check_keys(item, keys); });
    DeclaredDispatch made{.where = cases::location_of(item)};
    problems.attempt([&] { read_shader(item, made); });
    problems.attempt([&] { made.role = role_of(item); });
    problems.attempt([&] { made.when = optional_expression(item, "when"); });
    problems.attempt([&] { made.subgroup_size = optional_expression(item, "subgroup_size"); });
    problems.attempt([&] { made.workgroups = sides_of(item, "workgroups"); });
    problems.attempt([&] { made.local_size = sides_of(item, "local_size"); });
    problems.attempt([&] { made.constants = expressions_in(item.find_entry("constants"), here_); });
    problems.attempt([&] { made.push = expressions_in(item.find_entry("push"), here_); });
    problems.attempt([&] { made.uniforms = expressions_in(item.find_entry("uniforms"), here_); });
    problems.attempt([&] { read_bindings(item, made); });
    problems.attempt([&] { read_defines(item, made); });
    problems.settle();
    return made;
  }

  void read_shader(const Node& item, DeclaredDispatch& made) const {
    const Node::Entry& entry = required(item, "shader", item, "a dispatch");
    const std::filesystem::path file = file_in(manifest_.folder, *entry.value, {entry.key, "shader"});
    if (file.extension() != ".comp" && file.extension() != ".spv")
      throw Problem(diagnose(*entry.value, "a shader is a file .comp (GLSL) or .spv (SPIR-V)"));
    made.shader = file.generic_string();
    made.label = text_in(item, "label");
    if (made.label.empty()) made.label = file.stem().string();
  }

  static DispatchRole role_of(const Node& item) {
    const Node::Entry* given = item.find_entry("role");
    if (given == nullptr) return DispatchRole::Op;
    const std::string& text = cases::to_text(*given->value, {given->key, "role"});
    std::vector<std::string> known;
    for (const DispatchRole role : {DispatchRole::Op, DispatchRole::Transition, DispatchRole::Setup}) {
      if (name_of(role) == text) return role;
      known.emplace_back(name_of(role));
    }
    throw cases::unknown_name(*given->value, "role of a dispatch", text, known);
  }

  std::optional<PlacedExpression> optional_expression(const Node& item, const std::string& key) const {
    const Node::Entry* given = item.find_entry(key);
    if (given == nullptr) return std::nullopt;
    return expression_of(*given->value, {given->key, key}, here_);
  }

  /// One to three expressions; none if the key is absent.
  std::vector<PlacedExpression> sides_of(const Node& item, const std::string& key) const {
    constexpr std::size_t most = 3;
    std::vector<PlacedExpression> sides;
    const Node::Entry* given = item.find_entry(key);
    if (given == nullptr) return sides;
    if (!given->value->is_list() || given->value->items.empty() || given->value->items.size() > most)
      cases::wrong_type(*given->value, {given->key, key}, "a list of one to three integers or expressions");
    for (const Node* side : given->value->items)
      sides.push_back(expression_of(*side, {given->key, key}, here_));
    return sides;
  }

  void read_bindings(const Node& item, DeclaredDispatch& made) const {
    const Node::Entry* given = item.find_entry("bind");
    if (given == nullptr) return;
    if (!given->value->is_map()) {
      cases::wrong_type(*given->value, {given->key, "bind"},
                        "a map from the kernel's names to tensors: {x: x, y: y}");
    }
    std::vector<std::string> known;
    for (const DeclaredTensor& tensor : manifest_.tensors) known.push_back(tensor.name);
    for (const DeclaredScratch& scratch : impl_.scratch) known.push_back(scratch.name);
    for (const Node::Entry& one : given->value->entries) {
      const std::string& name = cases::to_text(*one.value, {one.key, one.key->text});
      if (std::ranges::find(known, name) == known.end())
        throw cases::unknown_name(*one.value, "tensor or scratch", name, known);
      made.bindings.push_back({one.key->text, name});
    }
  }

  void read_defines(const Node& item, DeclaredDispatch& made) const {
    const Node::Entry* given = item.find_entry("defines");
    if (given == nullptr) return;
    if (made.shader.ends_with(".spv")) {
      throw Problem(diagnose(
          *given->key, "a module is compiled, and cannot have #defines: name the .comp, or use constants"));
    }
    if (!given->value->is_map())
      cases::wrong_type(*given->value, {given->key, "defines"}, "a map of #defines by name");
    for (const Node::Entry& one : given->value->entries) {
      check_macro(*one.key);
      made.defines.push_back(define_of(one));
    }
  }

  /// Refuses what is neither NAME nor NAME(a, b).
  static void check_macro(const Node& key) {
    const auto is_fine = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const std::size_t open = key.text.find('(');
    const std::string name = key.text.substr(0, open),
                      parameters = key.text.substr(std::min(open, key.text.size()));
    const auto is_list = [&](char c) { return is_fine(c) || c == ',' || c == ' ' || c == '('; };
    const bool has_end = parameters.empty() || parameters.back() == ')';
    const bool is_well =
        !name.empty() && std::ranges::all_of(name, is_fine) && has_end &&
        std::ranges::all_of(parameters.substr(0, parameters.size() - (parameters.empty() ? 0 : 1)), is_list);
    if (!key.is_scalar() || !is_well) {
      throw Problem(diagnose(key, fmt::format("'{}' cannot be #defined: write NAME or \"NAME(a, b)\"",
                                              printable_line(key.text))));
    }
  }

  static std::string one_line(const Node::Entry& entry) {
    const std::string& text = cases::to_text(*entry.value, {entry.key, entry.key->text});
    if (text.find('\n') != std::string::npos)
      throw Problem(diagnose(*entry.value, "the text of a #define is one line"));
    return text;
  }

  DeclaredDefine define_of(const Node::Entry& entry) const {
    const std::string& name = entry.key->text;
    if (!entry.value->is_map()) return {name, expression_of(*entry.value, {entry.key, name}, here_)};
    if (entry.value->find("text") != nullptr) {
      static const std::vector<std::string> keys{"text"};
      cases::check_keys(*entry.value, keys);
      return {name, one_line(*entry.value->find_entry("text"))};
    }
    const Node::Entry& of = required(*entry.value, "of", *entry.key, fmt::format("the #define '{}'", name));
    const std::string& param = cases::to_text(*of.value, {of.key, "of"});
    const auto choice = here_.choices.find(param);
    if (choice == here_.choices.end())
      throw cases::unknown_name(*of.value, "choice parameter", param, words_of_choices());
    std::map<std::string, std::string> texts;
    for (const std::string& word : choice->second) {
      const Node::Entry& text =
          required(*entry.value, word, *entry.key, fmt::format("the #define '{}'", name));
      texts[word] = one_line(text);
    }
    std::vector<std::string> keys = choice->second;
    keys.emplace_back("of");
    cases::check_keys(*entry.value, keys);
    return {name, std::pair(param, std::move(texts))};
  }

  std::vector<std::string> words_of_choices() const {
    std::vector<std::string> names;
    for (const auto& [name, words] : here_.choices) names.push_back(name);
    return names;
  }

  const Node& key_;
  const Node& map_;
  const Manifest& manifest_;
  Scope points_, here_;
  DeclaredImpl impl_;
};

}  // namespace

std::vector<DeclaredImpl> read_impls(const Node::Entry& entry, const Manifest& manifest,
                                     const Scope& params) {
  if (!entry.value->is_map() || entry.value->entries.empty())
    cases::wrong_type(*entry.value, {entry.key, "impls"}, "a map of impls by name");
  std::vector<DeclaredImpl> impls;
  Problems problems;
  for (const Node::Entry& one : entry.value->entries)
    problems.attempt([&] { impls.push_back(ImplReader(one, manifest, params).read()); });
  problems.settle();
  return impls;
}

}  // namespace assay::external
