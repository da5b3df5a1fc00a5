#include "harness/cases/expansion/id_text.h"

#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <vector>

namespace assay::cases {

std::span<const std::string> model_keys() {
  static const std::array<std::string, 3> keys{"model", "layer", "calls"};
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

}  // namespace assay::cases
