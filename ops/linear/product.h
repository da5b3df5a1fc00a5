#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "ops/linear/gathering.h"
#include "ops/linear/weights.h"
#include "references/linear/linear.h"

#include <cstdint>
#include <optional>

namespace assay::ops {

// What the kernels of a linear op have in common: the operands that they multiply, and how their sums become
// y.

/// The type of x when it is multiplied.
enum class XKind : std::uint8_t {
  Real,           ///< as it is, in float32
  Int8,           ///< int8 already
  Quantized,      ///< real, quantized by the op's parameter x (linear_q8ta_q8csw)
  QuantizedRows,  ///< real, quantized row by row (linear_dq8ca_q4gsw)
};

/// A linear op as its kernels see it.
struct LinearKind {
  XKind x = XKind::Real;
  WeightKind w = WeightKind::Int8;

  bool is_real() const { return x == XKind::Real; }
  bool quantizes() const { return x == XKind::Quantized || x == XKind::QuantizedRows; }
  /// Whether there are sums of integers per group, which are scaled and added in float32.
  bool is_grouped() const { return !is_real() && is_int4(w); }
  /// Whether int4 weights meet real x: kernels of half floats multiply such weights by their scales before
  /// the product, unless ProductNeeds::scales_sums.
  bool is_real_int4() const { return is_real() && is_int4(w); }
};

/// Which tensors of a product are images of a convolution. M, K and N are those of the product.
struct Images {
  const Gathering* x = nullptr;  ///< set: x is images, and the kernel gathers it; y is images, too
  bool y = false;                ///< y is images
};

/// What a kernel expects of add_operands().
struct ProductNeeds {
  Layout x_layout = Layout::P4W;  ///< where x is quantized: the layout of its integers
  std::int64_t x_words = 1;       ///< words of int8 that the kernel loads at once from rows: 1, 2 or 4
  bool sums_of_groups = false;    ///< the kernel takes the sums of grouped weights, too
  bool scales_sums = false;       ///< scales of groups multiply sums, also those of half floats
  bool by_quad = false;           ///< tables of groups have the numbers of four output channels side by side
  Packing packing;                ///< how weights are packed; `for_halves`: the kernel multiplies half floats
  bool quantizes = false;         ///< the kernel quantizes x itself
  bool bakes = false;             ///< push constants are built in
  bool dot = false;
  std::int64_t columns_of_workgroup = 4;  ///< output channels
  Images images;

  /// The workgroups along N that `columns` output channels take.
  std::int64_t tiles_n(std::int64_t columns) const;
};
/// The numbers of slots (shaders/linear/rows.glslh) of the product's rows: of all of them, and of one plane.
struct Slots {
  std::int64_t all = 0, of_plane = 0;
};
/// Appends to `program` everything before the product: setup dispatches, and the quantization of x into
/// `needs.x_layout` where the op quantizes it. Then gives `product` its bindings, the #defines about them and
/// its push constants.
Slots add_operands(Program& program, Dispatch& product, const BuildContext& context, const LinearKind& kind,
                   const ProductNeeds& needs);

/// Appends scratch in this form and the dispatch that quantizes the op's real x into it, with the parameter
/// x.
TensorAt quantized_x(Program& program, const BuildContext& context, Form form);

/// Gives `product` the #defines and constants about its images; x must be int8 values, or halves as bytes
/// (bytes_of_halves()), that the kernel gathers.
void add_images(Dispatch& product, const BuildContext& context, const ProductNeeds& needs);
/// Gives `dispatch`, which only stores y, the #defines and constants about images of y.
void add_images_of_y(Dispatch& dispatch, const BuildContext& context, const Images& images);

/// Why no kernel can take this point on any device, or nothing. `x_layout`: see ProductNeeds.
std::optional<std::string> linear_invalid_reason(const ImplPoint& point, const LinearKind& kind,
                                                 Layout x_layout = Layout::P4W);

/// The result of quantize_rows(): int8 values in buffer/4W of x's shape, and one scale (f32) and one zero
/// point (i32) per row.
struct QuantizedRows {
  Resource values, scale, zero_point;
};

/// Appends to `program` the scratch and the dispatch that quantize each row of the op's tensor `x` (f32 or
/// f16, WP, a buffer or texture3d). Its parameters are chosen from its values (QParamsRule::PerRow over
/// -128..127), or read from the op's tensors x_scale and x_zero_point where it has them (activations: given).
/// All results are buffers.
QuantizedRows quantize_rows(Program& program, const BuildContext& context, const references::Linear& linear);

}  // namespace assay::ops
