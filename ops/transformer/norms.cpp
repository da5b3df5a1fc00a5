#include "ops/transformer/norms.h"

#include "ops/common/unit_error.h"
#include "ops/transformer/rows.h"

#include <fmt/format.h>

#include <utility>

namespace assay::ops {
namespace {

constexpr double largest_value = 0x1p60;
// Squares that a device may flush to zero stay far below it: kernels divide them by 2^20.
constexpr double smallest_eps = 1e-20, largest_eps = 1e30;
// So many squares of values of 2^62 at most, divided by 2^20, are below what a float32 holds.
constexpr std::int64_t largest_width = std::int64_t{1} << 20;

ParamSpec eps() {
  ParamSpec spec = number("eps").by_default(1e-5).says(
      "added to the mean of squares (layer_norm: to the variance), rounded to float32");
  spec.min_number = smallest_eps;
  spec.max_number = largest_eps;
  return spec;
}

// Kernels divide values by 2^10 before they square them.
constexpr float of_scaled_squares = 0x1p20F;

}  // namespace

float inverse_width(const BuildContext& context) {
  return 1.0F / static_cast<float>(context.tensors[0].shape.back());
}

std::vector<ParamSpec> norm_params() {
  return {shape("shape", rank(1, 4)).says("of x and y; rows lie along the last dim"),
          choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of all tensors"), eps()};
}

TensorSpec norm_input(std::string name, DType dtype, const Shape& shape) {
  TensorSpec input = row_tensor(std::move(name), dtype, shape);
  input.domain.most = largest_value;
  return input;
}

TensorSpec norm_output(const TensorSpec& x) {
  TensorSpec y = or_texture(row_tensor("y", x.dtype, x.shape));
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return y;
}

std::optional<std::string> norm_invalid_reason(const ImplPoint& point) {
  const std::int64_t width = point.tensors[0].shape.back();
  if (width > largest_width) {
    return fmt::format("a row has {} values, whose sum of squares may overflow: at most {} may be summed",
                       width, largest_width);
  }
  return rows_invalid_reason(point);
}

Program norm_program(const BuildContext& context, const std::string& name) {
  Dispatch dispatch = row_dispatch(context, name, name + ".comp", 1);
  dispatch.push.add(of_scaled_squares * inverse_width(context));
  dispatch.push.add(static_cast<float>(context.params.number("eps")));
  return {.dispatches = {std::move(dispatch)}};
}

double error_of_inverse_root(const BuildContext& context) {
  return gamma_of(additions_of_row(context) + 4) / 2 + 2 * float32_ulp;
}

}  // namespace assay::ops
