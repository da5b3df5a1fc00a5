#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/convolution/sizes.h"
#include "ops/linear/coopmat.h"

#include <optional>
#include <utility>

// A pointwise convolution is computed as a linear op whose rows are pixels: 4C becomes rows of 4W, and the 16
// bytes of four pixels of 4W4C are four rows of 4H4W. The padding past the width of an image becomes rows,
// too, with arbitrary values; their results become padding of y.

namespace assay::ops {
namespace {

using references::Convolution;

constexpr std::int64_t pixels_of_block = 4;

bool is_in_blocks(const ImplPoint& point) {
  return point.forms.front().layout == Layout::P4W4C;
}

std::int64_t count_rows(const ImplPoint& point) {
  const Convolution conv = references::checked_convolution(point.params);
  const std::int64_t width = is_in_blocks(point) ? div_up(conv.w, pixels_of_block) * pixels_of_block : conv.w;
  return conv.n * conv.h * width;
}

LinearPoint rows_of(const ImplPoint& point, const Tune& tune) {
  LinearPoint linear(point, point.physical(0), point.params.integer("C"), tune);
  linear.set_rows(count_rows(point), is_in_blocks(point) ? Layout::P4H4W : Layout::P4W);
  return linear;
}

/// Adds the sizes that are fast for a coopmat kernel on the device's matrices.
LinearPoint fast_rows_of(const BuildContext& context, const Impl& linear) {
  const bool has = has_matrices(context.device, {XKind::Int8, WeightKind::Int8});
  if (linear.ceiling != Ceiling::CoopInt8 || context.tuned("plain", has ? 0 : 1) != 0) {
    return rows_of(context, context.tune);
  }
  const ProductShape shape{.rows = count_rows(context),
                           .outputs = context.params.integer("OC"),
                           .depth = context.params.integer("C")};
  return rows_of(context, with_fast_sizes(context, shape));
}

std::optional<std::string> forms_invalid_reason(const ImplPoint& point) {
  const Layout x = point.forms.front().layout, y = point.forms.back().layout;
  if (x == y && (x == Layout::P4W4C || x == Layout::P4C)) return std::nullopt;
  return "this impl takes pixels as rows of a linear op, so x and y must both be in 4W4C or both in 4C";
}

Program build(const BuildContext& context, const Impl& linear) {
  const LinearPoint rows = fast_rows_of(context, linear);
  Program program;
  append(program, linear.build(rows.on(context.device)),
         rows.resources(Resource::tensor(0), Resource::tensor(1)));
  return program;
}

}  // namespace

Impl pointwise_convolution(const Impl& linear) {
  Impl impl = linear;
  impl.build = [linear](const BuildContext& context) { return build(context, linear); };
  impl.invalid_reason = [linear](const ImplPoint& point) {
    auto reason = forms_invalid_reason(point);
    return reason ? reason : linear.invalid_reason(rows_of(point, point.tune).point());
  };
  impl.unsupported_reason = [linear](const BuildContext& context) {
    return linear.unsupported_reason(fast_rows_of(context, linear).on(context.device));
  };
  impl.unit_error = nullptr;  // y is exact
  impl.conv2d_layout = Layout::P4C;
  return impl;
}

}  // namespace assay::ops
