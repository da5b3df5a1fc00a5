#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay {

/// The order of the elements in memory. WP, HP and CP are width-, height- and channels-packed, for any dtype.
/// P4W ... P4H4W are the int8x4 layouts "4W", "4C", "4C1W", "4W4C" and "4H4W": one 32-bit word holds four
/// values, lane 0 in the lowest byte. `all_layouts()` describes each; `Physical` gives the formulas.
enum class Layout : std::uint8_t { WP, HP, CP, P4W, P4C, P4C1W, P4W4C, P4H4W };

/// What a layout is. An order lists the terms of an element's offset, slowest first: a capital letter stands
/// for a dim's blocks of four, whose lanes are the small letter to the right of it; a small letter alone
/// stands for a whole dim.
struct LayoutInfo {
  Layout layout;
  std::string_view name;          ///< in case files, reports and shaders
  std::string_view buffer_order;  ///< in a buffer
  /// In a texture, whose lanes come last; empty: the layout is for buffers only.
  std::string_view texture_order;

  /// Returns whether a 32-bit word holds four int8 values: whether buffers have blocks of four.
  constexpr bool is_int8x4() const { return lanes_from_end(0); }
  constexpr bool fits_textures() const { return !texture_order.empty(); }
  /// Returns the dim along which the four values of a word or texel lie, as an index into N, C, H, W.
  constexpr std::size_t packed_dim() const { return dim_of(buffer_order.back()); }
  /// Returns the dim along which four words are the lanes of a larger block; nothing if words are in no
  /// block.
  constexpr std::optional<std::size_t> word_block_dim() const {
    if (!lanes_from_end(1)) return std::nullopt;
    return dim_of(buffer_order[buffer_order.size() - 2]);
  }

  /// Returns the index into N, C, H, W of a small letter of an order.
  static constexpr std::size_t dim_of(char letter) { return std::string_view("nchw").find(letter); }
  /// Returns the capital letter that stands for the blocks of the dim with this index.
  static constexpr char blocks_of(std::size_t dim) { return std::string_view("NCHW")[dim]; }

 private:
  /// Whether the term at this place from the end of the buffer order is the lanes of blocks.
  constexpr bool lanes_from_end(std::size_t place) const {
    const std::size_t dim = dim_of(buffer_order[buffer_order.size() - 1 - place]);
    return dim < 4 && buffer_order.find(blocks_of(dim)) != std::string_view::npos;
  }
};

namespace detail {

/// A new layout is a value of the enumeration and a line here, whose order `Physical` follows; which ops
/// accept it is declared in ops/.
inline constexpr std::array<LayoutInfo, 8> layouts{{
    {Layout::WP, "WP", "nchw", "nchWw"},
    {Layout::HP, "HP", "ncwh", "ncHwh"},
    {Layout::CP, "CP", "nhwc", "nChwc"},
    {Layout::P4W, "4W", "nchWw", ""},
    {Layout::P4C, "4C", "nhwCc", ""},
    {Layout::P4C1W, "4C1W", "nhCwc", ""},
    {Layout::P4W4C, "4W4C", "nhWCwc", ""},
    {Layout::P4H4W, "4H4W", "ncHWhw", ""},
}};

}  // namespace detail

/// Returns every layout, in the order in which messages list them.
constexpr std::span<const LayoutInfo> all_layouts() {
  return detail::layouts;
}

constexpr const LayoutInfo& info_of(Layout layout) {
  for (const LayoutInfo& info : detail::layouts) {
    if (info.layout == layout) return info;
  }
  return detail::layouts.front();  // not reached: layout_test.cpp looks up each value
}

/// Returns "WP", "4W4C", ...
constexpr std::string_view name_of(Layout layout) {
  return info_of(layout).name;
}

constexpr bool is_int8x4(Layout layout) {
  return info_of(layout).is_int8x4();
}

/// Returns the layout with that name, or nothing.
constexpr std::optional<Layout> parse_layout(std::string_view name) {
  for (const LayoutInfo& info : detail::layouts) {
    if (info.name == name) return info.layout;
  }
  return std::nullopt;
}

}  // namespace assay
