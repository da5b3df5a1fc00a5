#include "harness/cases/yaml/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace assay::cases {
namespace {

constexpr std::size_t longest_name = 64;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::string nearest_by_letters(std::string_view text, std::span<const std::string> known) {
  std::string best;
  std::size_t best_distance = text.size();
  for (const std::string& name : known) {
    const std::size_t allowed = std::max<std::size_t>(1, std::max(text.size(), name.size()) / 3);
    const std::size_t distance = edit_distance(text, name);
    if (distance <= allowed && distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

/// Returns whether `text` is one or more whole words of `name`, which '_' and '/' separate.
bool has_words(std::string_view name, std::string_view text) {
  const auto is_end = [](char c) { return c == '_' || c == '/'; };
  for (std::size_t at = name.find(text); at != name.npos; at = name.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if ((at == 0 || is_end(name[at - 1])) && (end == name.size() || is_end(name[end]))) return true;
  }
  return false;
}

/// Returns whether `text` is the beginning of `name`, or words of it.
bool is_part(std::string_view name, std::string_view text) {
  constexpr std::size_t shortest_begin = 4;
  return (text.size() >= shortest_begin && name.starts_with(text)) || has_words(name, text);
}

std::string only_one_with_part(std::string_view text, std::span<const std::string> known) {
  std::string only;
  for (const std::string& name : known) {
    if (!is_part(name, text)) continue;
    if (!only.empty()) return {};
    only = name;
  }
  return only;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      const bool swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view dtype_meant(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 23> names{{
      {"float32", "f32"}, {"float", "f32"}, {"fp32", "f32"}, {"single", "f32"}, {"float16", "f16"},
      {"half", "f16"},    {"fp16", "f16"},  {"int8", "i8"},  {"s8", "i8"},      {"char", "i8"},
      {"qint8", "i8"},    {"uint8", "u8"},  {"byte", "u8"},  {"quint8", "u8"},  {"int16", "i16"},
      {"short", "i16"},   {"int32", "i32"}, {"int", "i32"},  {"s32", "i32"},    {"float64", "f64"},
      {"double", "f64"},  {"int64", "i64"}, {"long", "i64"},
  }};
  constexpr std::string_view module = "torch.";
  if (text.starts_with(module)) text.remove_prefix(module.size());
  const auto* const found = std::ranges::find_if(
      names, [&](const auto& pair) { return std::ranges::equal(pair.first, text, same_letter); });
  return found == names.end() ? std::string_view() : found->second;
}

std::string nearest(std::string_view text, std::span<const std::string> known) {
  if (text.empty() || text.size() > longest_name) return {};
  const std::string_view dtype = dtype_meant(text);
  if (!dtype.empty() && std::ranges::find(known, dtype) != known.end()) return std::string(dtype);
  const std::string near = nearest_by_letters(text, known);
  return near.empty() ? only_one_with_part(text, known) : near;
}

}  // namespace assay::cases
