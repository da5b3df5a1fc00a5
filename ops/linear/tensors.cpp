#include "ops/linear/tensors.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr Form buffer{Storage::Buffer, Layout::WP};
constexpr Form texture{Storage::Texture3D, Layout::WP};

// Fills draw scales from these ranges: weights of trained layers have such scales, and the ratio of largest
// to smallest is small enough for one scale of y.
constexpr double least_w_scale = 0x1p-8, largest_w_scale = 0x1p-6;
constexpr double least_row_scale = 0x1p-7, largest_row_scale = 0x1p-5;

/// The root mean square of a value that is log-uniform between two numbers.
double typical(double least, double largest) {
  return std::sqrt((largest * largest - least * least) / (2 * std::log(largest / least)));
}

TensorSpec scales(std::string name, Shape shape, double least, double largest) {
  TensorSpec spec{.name = std::move(name), .dtype = DType::F32, .shape = std::move(shape), .forms = {buffer}};
  spec.domain = {FillRole::Scale, least, largest};
  return spec;
}

}  // namespace

std::vector<ParamSpec> linear_params(std::vector<ParamSpec> own) {
  std::vector<ParamSpec> all{
      shape("batch", rank(0, 2)).by_default(Shape{}).says("dims before M; they fold into M"),
      integer("M").at_least(1).says("rows of x"), integer("K").at_least(1).says("values of a row of x"),
      integer("N").at_least(1).says("output channels: values of a row of y")};
  std::ranges::move(own, std::back_inserter(all));
  all.push_back(boolean("bias").by_default(false).says("whether there is a tensor `bias`, added to y"));
  all.push_back(choice("activation", {"none", "relu"}).by_default(std::string("none")));
  return all;
}

ParamSpec real_dtype_param(const std::string& doc) {
  return choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says(doc);
}

ParamSpec epilogue_param() {
  return choice("epilogue", {"float32", "fixed_point"})
      .by_default(std::string("float32"))
      .says("how sums become y: by float32 operations, or by a multiplication and a shift of integers");
}

ParamSpec group_size_param() {
  return integer("group_size")
      .at_least(8)
      .by_default(std::int64_t{32})
      .says("neighbours along K that share a scale of w: a multiple of 8 that divides K");
}

double depth_of_linear(const Params& params) {
  return static_cast<double>(params.integer("K"));
}

ParamSpec y_qparams_param(const std::function<double(const Params&)>& x_scale,
                          const std::function<double(const Params&)>& depth) {
  // The standard deviation of sums of K products of normal fills is 32 steps of y. A zero point of x adds to
  // it, since weights do not cancel it.
  constexpr double x_deviation = 42, w_deviation = 42, steps = 32;
  return qparams("y")
      .derived([x_scale, depth](const Params& params) {
        const double zero_point = params.has("x") ? params.qparams("x").zero_point : x_deviation;
        const bool has_groups =
            params.has("group_size");  // int4: an eighth of the deviation, and zero points
        const double w = typical(least_w_scale, largest_w_scale) * (has_groups ? 6 : w_deviation);
        const double x = x_scale(params) * std::hypot(x_deviation, zero_point);
        return Value(QParams{static_cast<float>(x * w * std::sqrt(depth(params)) / steps), 3});
      })
      .says(
          "by default zero point 3 and a scale with which y of normal fills neither saturates nor vanishes");
}

double typical_row_scale(const Params&) {
  return typical(least_row_scale, largest_row_scale);
}

TensorSpec real_x(const Linear& linear) {
  return {.name = "x", .dtype = linear.real, .shape = linear.x_shape(), .forms = {buffer, texture}};
}

TensorSpec int8_x(const Linear& linear) {
  TensorSpec x{.name = "x", .dtype = DType::I8, .shape = linear.x_shape()};
  x.forms = {{Storage::Buffer, Layout::P4H4W}, {Storage::Buffer, Layout::P4W}};
  x.domain = {FillRole::Data, -128, 127};
  return x;
}

TensorSpec int8_rows_x(const Linear& linear) {
  TensorSpec x = int8_x(linear);
  x.forms = {{Storage::Buffer, Layout::P4W}, texture};
  return x;
}

std::vector<TensorSpec> row_qparams(const Linear& linear) {
  TensorSpec zero_point{.name = "x_zero_point", .dtype = DType::I32, .shape = linear.row_shape()};
  zero_point.forms = {buffer};
  zero_point.domain = {FillRole::ZeroPoint, -128, 127};
  return {scales("x_scale", linear.row_shape(), least_row_scale, largest_row_scale), std::move(zero_point)};
}

TensorSpec constant_tensor(std::string name, DType dtype, Shape shape) {
  TensorSpec spec{.name = std::move(name), .constant = true, .dtype = dtype, .shape = std::move(shape)};
  spec.forms = {buffer};
  return spec;
}

TensorSpec weight_scales(Shape shape) {
  TensorSpec spec = scales("w_scale", std::move(shape), least_w_scale, largest_w_scale);
  spec.constant = true;
  return spec;
}

std::vector<TensorSpec> int8_weights(const Linear& linear) {
  TensorSpec w = constant_tensor("w", DType::I8, {linear.n, linear.k});
  w.domain = {FillRole::Data, -128, 127};
  return {std::move(w), weight_scales({linear.n})};
}

std::vector<TensorSpec> int4_weights(const Linear& linear) {
  TensorSpec w = constant_tensor("w", DType::U8, {linear.n, linear.k / 2});
  w.domain = {FillRole::Data, 0, 255};
  return {std::move(w), weight_scales({linear.groups(), linear.n})};
}

TensorSpec group_zero_points(const Linear& linear) {
  TensorSpec zero_point = constant_tensor("w_zero_point", DType::I32, {linear.groups(), linear.n});
  zero_point.domain = {FillRole::ZeroPoint, -8, 7};
  return zero_point;
}

std::vector<TensorSpec> int8_rows_and_int4_weights(const Linear& linear) {
  std::vector<TensorSpec> inputs{int8_rows_x(linear)};
  for (TensorSpec& spec : row_qparams(linear)) inputs.push_back(std::move(spec));
  for (TensorSpec& spec : int4_weights(linear)) inputs.push_back(std::move(spec));
  inputs.push_back(group_zero_points(linear));
  return inputs;
}

TensorSpec real_y(const Linear& linear) {
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = linear.real};
  y.shape = linear.y_shape();
  y.forms = {buffer, texture};
  y.output_class = OutputClass::Bounded;
  return y;
}

TensorSpec int8_y(const Linear& linear, std::vector<Form> forms) {
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::I8};
  y.shape = linear.y_shape();
  y.forms = std::move(forms);
  return y;
}

std::vector<TensorSpec> with_bias(const Linear& linear, std::vector<TensorSpec> inputs, TensorSpec y) {
  if (linear.bias) inputs.push_back(constant_tensor("bias", DType::F32, {linear.n}));
  inputs.push_back(std::move(y));
  return inputs;
}

Work linear_work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = 2 * numel(tensors.back().shape) * params.integer("K");
  return work;
}

std::int64_t linear_tokens(const Params& params) {
  return references::checked_linear(params).rows();
}

std::optional<std::uint32_t> find_tensor(std::span<const TensorSpec> tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
  if (found == tensors.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - tensors.begin());
}

TensorAt tensor_named(const BuildContext& context, std::string_view name) {
  const std::optional<std::uint32_t> found = find_tensor(context.tensors, name);
  if (!found) throw std::logic_error("a linear op has no tensor " + std::string(name));
  return tensor_at(context, *found);
}

}  // namespace assay::ops
