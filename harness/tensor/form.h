#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  return detail::layouts.front();  // not reached: form_test.cpp looks up each value
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

enum class Storage : std::uint8_t { Buffer, Texture3D, Texture2D };

/// The physical form of a tensor, such as "buffer/4W4C" or "texture3d/CP".
struct Form {
  Storage storage = Storage::Buffer;
  Layout layout = Layout::WP;
  friend auto operator<=>(const Form&, const Form&) = default;
};

std::string_view name_of(Storage storage);  ///< "buffer", "texture3d", "texture2d"
std::string to_string(Form form);           ///< "buffer/4W4C"
/// Parses a form; accepts "texture" for "texture3d". Empty if the text is not a form.
std::optional<Form> parse_form(std::string_view text);
/// Returns every form: each layout in a buffer, then those of textures in 3D, then in 2D.
std::vector<Form> all_forms();
bool is_texture(Form form);
/// Returns GLSL's name of a texel of four such lanes: "rgba32f", "rgba8i". Throws std::out_of_range for F64
/// and I64.
std::string_view texel_name(DType dtype);

/// Where each element of one tensor lies in memory: the addressing contract that shaders, packing and
/// guards share. Offsets are in elements of `dtype` from the start of the tensor's data.
///
///   WP    ((n*C + c)*H + h)*W + w                 unpadded
///   HP    ((n*C + c)*W + w)*H + h                 unpadded
///   CP    ((n*H + h)*W + w)*C + c                 unpadded
///   4W    (((n*C + c)*H + h)*W4 + w/4)*4 + w%4
///   4C    (((n*H + h)*W + w)*C4 + c/4)*4 + c%4
///   4C1W  (((n*H + h)*C4 + c/4)*W + w)*4 + c%4
///   4W4C  ((((n*H + h)*W4 + w/4)*C4 + c/4)*4 + w%4)*4 + c%4
///   4H4W  ((((n*C + c)*H4 + h/4)*W4 + w/4)*4 + h%4)*4 + w%4
///
/// with X4 = ceil(X/4). Textures: texel (x, y, z), lane: ((z*extent.y + y)*extent.x + x)*4 + lane, extents
/// WP (W4, H, N*C), HP (W, H4, N*C), CP (W, H, N*C4), z = n*Ctex + c.
class Physical {
 public:
  /// The distance between the elements of one dim: index i is at (i/4)*block + (i%4)*lane.
  struct Stride {
    std::int64_t block = 0, lane = 0;
    std::int64_t at(std::int64_t i) const { return (i >> 2) * block + (i & 3) * lane; }
    friend bool operator==(const Stride&, const Stride&) = default;
  };

  /// Throws Error if the form cannot hold the dtype, such as an int8x4 layout of a 32-bit type.
  Physical(Form form, DType dtype, const Shape& shape);

  Form form() const { return form_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Dims& dims() const { return dims_; }

  /// Returns the number of elements of the data region, including padding lanes and blocks.
  std::int64_t elements() const { return elements_; }
  /// Returns the bytes of the data region, rounded up to whole 32-bit words (buffers).
  std::int64_t bytes() const;
  /// Returns the texels in x, y and z (textures only).
  std::array<std::uint32_t, 3> extent() const { return extent_; }

  std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return strides_[0].at(n) + strides_[1].at(c) + strides_[2].at(h) + strides_[3].at(w);
  }
  /// Returns the strides of N, C, H and W: every layout is a sum of one term per dim.
  const std::array<Stride, 4>& strides() const { return strides_; }
  /// Returns whether row-major logical order and memory order are equal, with no padding in between.
  bool is_contiguous() const;

 private:
  Form form_;
  DType dtype_;
  Shape shape_;
  Dims dims_;
  std::array<Stride, 4> strides_{};
  std::int64_t elements_ = 0;
  std::array<std::uint32_t, 3> extent_{};
};

}  // namespace assay
