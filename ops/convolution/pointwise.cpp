#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"

#include <optional>
#include <utility>

// A pointwise convolution is a linear op whose rows are pixels, and no convolution any more: in 4C they are
// rows of 4W, and what four pixels of 4W4C are in 16 bytes, four rows of 4H4W are too. What lies past the
// width of an image is a row then, of anything: it becomes padding of y.

namespace assay::ops {
namespace {

using references::Convolution;

constexpr std::int64_t pixels_of_block = 4;

LinearPoint rows_of(const ImplPoint& point) {
  const Convolution conv = references::checked_convolution(point.params);
  LinearPoint linear(point, point.physical(0), conv.c, point.tune);
  const bool in_blocks = point.forms.front().layout == Layout::P4W4C;
  const std::int64_t width = in_blocks ? div_up(conv.w, pixels_of_block) * pixels_of_block : conv.w;
  linear.set_rows(conv.n * conv.h * width, in_blocks ? Layout::P4H4W : Layout::P4W);
  return linear;
}

std::optional<std::string> excludes_forms(const ImplPoint& point) {
  const Layout x = point.forms.front().layout, y = point.forms.back().layout;
  if (x == y && (x == Layout::P4W4C || x == Layout::P4C)) return std::nullopt;
  return "pixels are rows of a linear op here, with x and y both in 4W4C or both in 4C";
}

Program build(const BuildContext& context, const Impl& linear) {
  const LinearPoint rows = rows_of(context);
  Program program;
  append(program, linear.build(rows.on(context.device)),
         rows.resources(Resource::tensor(0), Resource::tensor(1)));
  return program;
}

}  // namespace

Impl pointwise_convolution(const Impl& linear) {
  Impl impl = linear;
  impl.build = [linear](const BuildContext& context) { return build(context, linear); };
  impl.excludes = [linear](const ImplPoint& point) {
    auto reason = excludes_forms(point);
    return reason ? reason : linear.excludes(rows_of(point).point());
  };
  impl.lacks = [linear](const BuildContext& context) {
    return linear.lacks(rows_of(context).on(context.device));
  };
  impl.unit_error = nullptr;  // y is exact
  impl.conv2d_layout = Layout::P4C;
  return impl;
}

}  // namespace assay::ops
