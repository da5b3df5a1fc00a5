#include "harness/cases/expansion/expand.h"

#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <vector>

namespace assay::cases {

std::span<const std::string> model_keys() {
  static const std::array<std::string, 4> keys{"model", "layer", "calls", "step_tokens"};
  return keys;
}

bool is_model_key(std::string_view key) {
  const std::span<const std::string> keys = model_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

namespace {

bool is_without_sets(std::string_view key) {
  return key == "impl" || key == "seed" || key == "tolerance" || key == "expected" || is_model_key(key);
}

}  // namespace

Style Style::below(std::string_view key) const {
  if (kind == Kind::With) return style_of(key);
  Style style = *this;
  style.prefix.clear();
  if (kind == Kind::Tune) style.prefix = key;
  if (key == "npy" || key == "npz" || key == "member")
    style.sets = false;  // a set's name there would be a file or member name
  return style;
}

Style style_of(std::string_view key) {
  Style style;
  if (key == "tune") style.kind = Style::Kind::Tune;
  if (key == "forms" || key == "impl") style.kind = Style::Kind::Hidden;
  if (key == "with") style.kind = Style::Kind::With;
  style.sets = !is_without_sets(key);
  return style;
}

namespace {

/// "-0.5" -> "m0.5", "1e+20" -> "1e20": GoogleTest filters use '-'.
std::string number_text(std::string text) {
  std::erase(text, '+');
  std::replace(text.begin(), text.end(), '-', 'm');
  return text;
}

std::string shortest(double number) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

std::string scalar_text(const Node& value) {
  if (const auto integer = as_integer(value)) return number_text(std::to_string(*integer));
  if (const auto number = as_number(value)) return number_text(shortest(*number));
  return id_text(value.text);
}

bool has_keys(const Node& map, std::span<const std::string_view> keys) {
  return map.entries.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return map.find(key) != nullptr; });
}

/// Returns a file's name without folder and suffix.
std::string stem_text(const Node& file) {
  return id_text(std::filesystem::path(file.text).stem().string());
}

/// Returns whether the key does not distinguish points.
bool is_remark(std::string_view key, const Style& style) {
  return key == "reason" || (style.kind == Style::Kind::With && is_model_key(key));
}

std::string map_text(const Node& map, const Style& style) {
  constexpr std::array<std::string_view, 2> qparams{"scale", "zero_point"};
  constexpr std::array<std::string_view, 1> constant{"constant"}, npy{"npy"};
  constexpr std::array<std::string_view, 2> member{"npz", "member"};
  if (has_keys(map, qparams)) {
    return segment_of(*map.find("scale"), {}) + "_" + segment_of(*map.find("zero_point"), {});
  }
  if (has_keys(map, constant)) return "constant" + segment_of(*map.entries[0].value, {});
  if (has_keys(map, npy)) return stem_text(*map.find("npy"));
  if (has_keys(map, member)) return stem_text(*map.find("npz")) + "_" + id_text(map.find("member")->text);
  if (const Node* layer = layer_of(map, style)) return segment_of(*layer, {});
  std::vector<std::string> parts;
  for (const Node::Entry& entry : map.entries) {
    const Style below = style.below(entry.key->text);
    if (below.kind == Style::Kind::Hidden || is_remark(entry.key->text, style)) continue;
    parts.push_back(segment_of(*entry.value, below));
  }
  return joined(parts, '.');
}

std::string value_text(const Node& value, const Style& style) {
  if (!value.set_name.empty()) return value.set_name;
  if (value.is_scalar()) return scalar_text(value);
  if (value.is_map()) return map_text(value, style);
  std::vector<std::string> parts;
  for (const Node* item : value.items) parts.push_back(segment_of(*item, style));
  return joined(parts, 'x');
}

}  // namespace

std::string segment_of(const Node& value, const Style& style) {
  const std::string text = id_text(style.prefix) + value_text(value, style);
  return text.empty() ? "default" : text;
}

const Node* layer_of(const Node& value, const Style& style) {
  return style.kind == Style::Kind::With && value.is_map() ? value.find("layer") : nullptr;
}

std::string id_text(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const bool allowed =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!allowed) c = '_';
  }
  return result;
}

std::string joined(std::span<const std::string> parts, char separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

namespace {

constexpr std::size_t deepest_sets = 16;

/// Returns the items of a list or the entries of a map, in the order written.
std::vector<Node::Entry> parts_of(const Node& value) {
  std::vector<Node::Entry> parts = value.entries;
  for (const Node* item : value.items) parts.push_back({nullptr, item});
  return parts;
}

Style style_of_part(const Style& style, const Node::Entry& part) {
  return part.key == nullptr ? style : style.below(part.key->text);
}

/// The first parts of an alternative of a list or map.
struct Partial {
  std::vector<const Node*> parts;
  std::vector<std::string> segments;

  void append(const Alternative& choice) {
    parts.push_back(choice.value);
    segments.insert(segments.end(), choice.segments.begin(), choice.segments.end());
  }
};

/// Extends every partial by every choice. A single choice, the usual case, is appended in place.
void multiply(std::vector<Partial>& partials, const std::vector<Alternative>& choices) {
  if (choices.size() == 1) {
    for (Partial& partial : partials) partial.append(choices[0]);
    return;
  }
  std::vector<Partial> longer;
  longer.reserve(partials.size() * choices.size());
  for (const Partial& partial : partials) {
    for (const Alternative& choice : choices) longer.emplace_back(partial).append(choice);
  }
  partials = std::move(longer);
}

}  // namespace

bool Sets::add(const Node* key, const Node* value) {
  return sets_.emplace(key->text, Node::Entry{key, value}).second;
}

const Node::Entry* Sets::find(std::string_view name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : &found->second;
}

std::vector<std::string> Sets::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : sets_) names.push_back(name);
  return names;
}

const Node* each_list(const Node& value) {
  const Node::Entry* entry = value.is_map() ? value.find_entry("each") : nullptr;
  if (entry == nullptr) return nullptr;
  if (value.entries.size() != 1) {
    throw Problem(diagnose(
        *entry->key, "'each' must be the only key of its map: put values that go together into its items"));
  }
  if (!entry->value->is_list() || entry->value->items.empty()) {
    throw Problem(diagnose(*entry->key, "'each' needs a list of at least one value"));
  }
  for (const Node* item : entry->value->items) {
    if (item->is_null()) throw Problem(diagnose(*entry->key, "an item of 'each' has no value"));
  }
  return entry->value;
}

const Node::Entry* Expander::set_named_by(const Node& value, const Style& style) const {
  return style.sets && value.is_scalar() && !value.quoted ? sets_.find(value.text) : nullptr;
}

bool Expander::is_axis(const Node& value, const Style& style) const {
  const Node::Entry* set = set_named_by(value, style);
  return each_list(set == nullptr ? value : *set->value) != nullptr;
}

Extent Expander::extent(const Node& value, const Style& style) {
  const Known::key_type key{&value, style.sets, style.kind == Style::Kind::With};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Extent result;
  if (const Node::Entry* set = set_named_by(value, style)) {
    result = extent_of_set(value, *set, style);
  } else if (const Node* each = each_list(value)) {
    result = extent_of_each(*each, style);
  } else {
    result = extent_of_parts(value, style);
  }
  known_.emplace(key, result);
  return result;
}

Extent Expander::extent_of_set(const Node& name, const Node::Entry& set, const Style& style) {
  if (std::find(open_sets_.begin(), open_sets_.end(), name.text) != open_sets_.end()) {
    throw Problem(diagnose(name, fmt::format("set '{}' refers to itself: {} -> {}", name.text,
                                             fmt::join(open_sets_, " -> "), name.text)));
  }
  if (open_sets_.size() >= deepest_sets) {
    throw Problem(diagnose(name, fmt::format("sets refer to sets more than {} deep", deepest_sets)));
  }
  open_sets_.push_back(name.text);
  try {
    const Extent result = extent(*set.value, style);
    open_sets_.pop_back();
    return result;
  } catch (...) {
    open_sets_.pop_back();
    throw;
  }
}

Extent Expander::extent_of_each(const Node& each, const Style& style) {
  Extent result{0, 1};
  for (const Node* item : each.items) {
    const Extent part = extent(*item, style);
    result.alternatives = saturating_add(result.alternatives, part.alternatives);
    result.nodes = std::max(result.nodes, part.nodes);
  }
  return result;
}

Extent Expander::extent_of_parts(const Node& value, const Style& style) {
  Extent result;
  for (const Node::Entry& part : parts_of(value)) {
    const Extent below = extent(*part.value, style_of_part(style, part));
    result.alternatives = saturating_multiply(result.alternatives, below.alternatives);
    result.nodes = saturating_add(result.nodes, below.nodes);
  }
  return result;
}

std::vector<Alternative> Expander::expand(const Node& value, const Style& style) {
  if (const Node::Entry* set = set_named_by(value, style)) return expand_set(value, *set, style);
  if (const Node* each = each_list(value)) return expand_each(*each, style);
  return expand_parts(value, style);
}

// A set that is an axis contributes its items. Any other set puts its name into ids and its place of use into
// errors.
std::vector<Alternative> Expander::expand_set(const Node& name, const Node::Entry& set, const Style& style) {
  std::vector<Alternative> alternatives = expand(*set.value, style);
  if (each_list(*set.value) != nullptr) return alternatives;
  for (Alternative& alternative : alternatives) {
    Node& named = arena_.emplace_back(*alternative.value);
    named.file = name.file;
    named.mark = name.mark;
    named.set_name = name.text;
    alternative.value = &named;
  }
  return alternatives;
}

std::vector<Alternative> Expander::expand_each(const Node& each, const Style& style) {
  std::vector<Alternative> alternatives;
  for (const Node* item : each.items) {
    for (Alternative& alternative : expand(*item, style)) {
      std::string segment = segment_of(*alternative.value, style);
      // If items have axes of their own, the name of the set or layer alone would not tell them apart.
      const bool is_named =
          !alternative.value->set_name.empty() || layer_of(*alternative.value, style) != nullptr;
      if (is_named && !alternative.segments.empty()) {
        segment.append(1, '.').append(joined(alternative.segments, '.'));
      }
      alternative.segments.clear();
      if (style.kind != Style::Kind::Hidden) alternative.segments.push_back(std::move(segment));
      alternatives.push_back(std::move(alternative));
    }
  }
  return alternatives;
}

std::vector<Alternative> Expander::expand_parts(const Node& value, const Style& style) {
  std::vector<Partial> partials(1);
  for (const Node::Entry& part : parts_of(value)) {
    multiply(partials, expand(*part.value, style_of_part(style, part)));
  }
  std::vector<Alternative> alternatives;
  for (Partial& partial : partials) {
    alternatives.push_back({rebuilt(value, partial.parts), std::move(partial.segments)});
  }
  return alternatives;
}

const Node* Expander::rebuilt(const Node& value, const std::vector<const Node*>& parts) {
  const std::vector<Node::Entry> old = parts_of(value);
  const bool unchanged =
      std::equal(parts.begin(), parts.end(), old.begin(), old.end(),
                 [](const Node* part, const Node::Entry& entry) { return part == entry.value; });
  if (unchanged) return &value;
  Node& node = arena_.emplace_back(value);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    (value.is_map() ? node.entries[i].value : node.items[i]) = parts[i];
  }
  return &node;
}

}  // namespace assay::cases
