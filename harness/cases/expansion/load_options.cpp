#include "harness/cases/expansion/load_options.h"

#include "harness/base/text.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/yaml/yaml_parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::cases {

ReplacedValues::ReplacedValues(std::span<const std::string> texts, std::span<const SourceLocation> places) {
  for (const std::string& text : texts) add(text);
  for (const SourceLocation& place : places) places_.insert(place_of(place));
}

void ReplacedValues::add(const std::string& text) {
  const auto equals = text.find('=');
  const auto refuse = [&](const std::string& why) {
    throw Problem(
        file_diagnostic("--set", fmt::format("'{}' {}: write KEY=VALUE, such as 'shape=[1, 64, 128, 128]'",
                                             printable_line(text), why)));
  };
  if (equals == text.npos || equals == 0) refuse("names no key");
  const SourceFile& file =
      files_.emplace_back("--set", text.substr(0, equals) + ": " + text.substr(equals + 1) + '\n');
  const Node* map = parse_yaml(file, arena_);
  if (map == nullptr || !map->is_map() || map->flawed || map->entries.size() != 1 ||
      map->entries[0].value->is_null())
    refuse("is no value of a key");
  const Node::Entry& entry = map->entries[0];
  if (entry.key->text == "name") refuse("would rename the case");
  if (replace(entry.key->text)) refuse("sets the key a second time");
  entries_.push_back({entry.key, is_head_key(entry.key->text) ? entry.value : as_axis(entry.value)});
}

const Node* ReplacedValues::as_axis(const Node* value) {
  if (value->is_map() && value->find("each") != nullptr) return value;
  Node& list = arena_.emplace_back();
  list = {.kind = Node::Kind::List,
          .file = value->file,
          .mark = value->mark,
          .items = {value},
          .weight = value->weight};
  Node& key = arena_.emplace_back();
  key = {.kind = Node::Kind::Scalar, .file = value->file, .mark = value->mark, .text = "each"};
  Node& map = arena_.emplace_back();
  map = {.kind = Node::Kind::Map,
         .file = value->file,
         .mark = value->mark,
         .entries = {{&key, &list}},
         .weight = value->weight};
  return &map;
}

bool ReplacedValues::apply_to(const SourceLocation& place) const {
  return places_.empty() || places_.contains(place_of(place));
}

bool ReplacedValues::replace(std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const Node::Entry& entry) { return entry.key->text == key; });
}

}  // namespace assay::cases
