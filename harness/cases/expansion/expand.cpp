#include "harness/cases/expansion/expand.h"

#include "harness/cases/expansion/id_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::cases {
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
