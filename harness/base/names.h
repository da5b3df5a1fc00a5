#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace assay {

/// The names of an enumeration whose values count from 0, in the order of its values.
template <std::size_t N>
using Names = std::array<std::string_view, N>;

template <class Enum, std::size_t N>
std::string_view name_in(const Names<N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

/// Returns the value with that name, or nothing.
template <class Enum, std::size_t N>
std::optional<Enum> value_in(const Names<N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace assay
