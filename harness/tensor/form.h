#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/layout.h"
#include "harness/tensor/shape.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

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
