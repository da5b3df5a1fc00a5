#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "ops/linear/gathering.h"
#include "ops/linear/weights.h"
#include "references/linear.h"

#include <cstdint>
#include <optional>

// What the kernels of a linear op have in common: what they multiply, how their sums become y.

namespace assay::ops {

/// What x is when it is multiplied.
enum class XKind : std::uint8_t {
  Real,           ///< as it is, in float32
  Int8,           ///< int8 already
  Quantized,      ///< real, quantized by the op's parameter x (linear_q8ta_q8csw)
  QuantizedRows,  ///< real, quantized row by row (linear_dq8ca_q4gsw)
};

/// A linear op, as its kernels see it.
struct LinearKind {
  XKind x = XKind::Real;
  WeightKind w = WeightKind::Int8;

  bool is_real() const { return x == XKind::Real; }
  bool quantizes() const { return x == XKind::Quantized || x == XKind::QuantizedRows; }
  /// int32 sums of groups, which are scaled and added in float32.
  bool is_grouped() const { return !is_real() && is_int4(w); }
  /// Int4 weights of real x: kernels of half floats multiply them by their scales before the product.
  bool is_real_int4() const { return is_real() && is_int4(w); }
};

/// Tensors of a product that are images of a convolution: M, K and N are those of the product that it is.
struct Images {
  const Gathering* x = nullptr;  ///< x is, and the kernel gathers it; then y is, too
  bool y = false;                ///< y is
};

/// Appends to `program` everything before the product: setup dispatches, quantization of x, into `x_layout`
/// where it is quantized. Then gives `product` its bindings, the #defines about them and its push constants.
/// `x_words`: words of int8 that the kernel loads at once, from rows (1, 2 or 4). `sums_of_groups`: the
/// kernel takes the sums of grouped weights, too.
struct ProductNeeds {
  Layout x_layout = Layout::P4W;
  std::int64_t x_words = 1;
  bool sums_of_groups = false;
  bool by_quad = false;    ///< tables of groups have those of four output channels side by side
  Packing packing;         ///< of weights; `for_halves`: the kernel multiplies half floats
  bool quantizes = false;  ///< the kernel itself quantizes x
  bool bakes = false;      ///< push constants are built in
  bool dot = false;
  std::int64_t columns_of_workgroup = 4;  ///< output channels
  Images images;

  /// Workgroups along N for so many output channels.
  std::int64_t tiles_n(std::int64_t columns) const;
};
/// The slots (shaders/linear/rows.glslh) of the product's rows.
struct Slots {
  std::int64_t all = 0, of_plane = 0;
};
Slots add_operands(Program& program, Dispatch& product, const BuildContext& context, const LinearKind& kind,
                   const ProductNeeds& needs);

/// Appends scratch in this form and the dispatch that quantizes the op's real x into it, by the parameter x.
TensorAt quantized_x(Program& program, const BuildContext& context, Form form);

/// Gives `product` what tells of its images; x as int8 values that are gathered.
void add_images(Dispatch& product, const BuildContext& context, const ProductNeeds& needs);
/// Gives `dispatch`, which stores y alone, what tells of y.
void add_images_of_y(Dispatch& dispatch, const BuildContext& context, const Images& images);

/// Why no kernel can take this point on any device, or nothing.
std::optional<std::string> linear_excludes(const ImplPoint& point);

/// gamma(n) of n roundings to float32 behind one another, and of the reference's: Higham, Accuracy and
/// Stability of Numerical Algorithms, 3.1.
double gamma_of(std::int64_t roundings);

}  // namespace assay::ops
