#include "ops/elementwise/q8ta_add.h"

#include "harness/op/op.h"
#include "ops/common/activation.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "references/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace assay::ops {
namespace {

using Sizes = std::array<std::int64_t, 4>;  // N, C, H, W

Sizes sizes_of(const Physical& physical) {
  const Dims& dims = physical.dims();
  return {dims.n, dims.c, dims.h, dims.w};
}

/// The dim of N, C, H, W along which the four values of a word lie.
std::size_t packed_dim(const Physical& physical) {
  return info_of(physical.form().layout).packed_dim();
}

/// The strides of one operand along a dim of y: all 0 where it is broadcast.
Physical::Stride stride_along(const Physical& operand, const Physical& y, std::size_t dim) {
  if (sizes_of(operand)[dim] != sizes_of(y)[dim]) return {0, 0};
  return kernel_strides(operand)[dim];
}

/// An axis with its stride in y, by which axes are sorted.
using Placed = std::pair<std::int64_t, BroadcastAxis>;

std::vector<Placed> axes_of_dim(const Physical& a, const Physical& b, const Physical& y, std::size_t dim) {
  const std::int64_t size = sizes_of(y)[dim];
  const Physical::Stride in_y = kernel_strides(y)[dim];
  const Physical::Stride in_a = stride_along(a, y, dim);
  const Physical::Stride in_b = stride_along(b, y, dim);
  const Placed blocks{in_y.block, {div_up(size, 4), in_a.block, in_b.block}};
  if (dim == packed_dim(y)) return {blocks};
  if (info_of(y.form().layout).word_block_dim() == dim)
    return {blocks, {in_y.lane, {4, in_a.lane, in_b.lane}}};
  return {{in_y.lane, {size, in_a.lane, in_b.lane}}};
}

/// Makes `fast` the product of both axes, if both operands continue from one to the other.
bool merge(BroadcastAxis& fast, const BroadcastAxis& slow) {
  if (slow.a_step != fast.a_step * fast.size || slow.b_step != fast.b_step * fast.size) return false;
  fast.size *= slow.size;
  return true;
}

constexpr std::int64_t operations = 8;  // -, *, -, *, *, +, *, +
// MOST_AXES of shaders/elementwise/q8ta_add.comp: the four dims. Where a layout's lanes of words would be a
// fifth axis, a vector consists of these lanes.
constexpr std::size_t most_axes = 4;
constexpr double largest_alpha = 0x1p100;
constexpr double smallest_alpha = 0x1p-126;

/// Why the output equals a, or nothing.
std::string copy_because(const Params& params, const Shape& y_shape) {
  const bool is_copy = references::activation_of(params) == references::Activation::None &&
                       params.number("alpha") == 0 && params.qparams("a") == params.qparams("y") &&
                       numel(y_shape) == numel(params.ints("shape"));
  return is_copy ? "alpha is 0, and the qparams of a and y are equal" : "";
}

TensorSpec operand(std::string name, const Shape& shape) {
  return {.name = std::move(name),
          .dtype = DType::I8,
          .shape = shape,
          .forms = int8_forms(),
          .domain = {FillRole::Data, -128, 127}};
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const Shape& b_shape = params.ints("b_shape");
  const Shape y_shape = references::broadcast(shape, b_shape);
  return {operand("a", shape),
          operand("b", b_shape),
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = DType::I8,
           .shape = y_shape,
           .forms = int8_forms(),
           .copy_because = copy_because(params, y_shape)}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(tensors[2].shape);
  return work;
}

void add_steps(PushConstants& push, const BroadcastAxis& axis) {
  push.add(axis.a_step).add(axis.b_step);
}

/// `axes`: fastest first, counted in vectors.
PushConstants push_constants(const Params& params, std::int64_t vectors,
                             const std::vector<BroadcastAxis>& axes) {
  PushConstants push;
  push.add(vectors);
  for (const char* name : {"a", "b"}) {
    push.add(std::int64_t{params.qparams(name).zero_point}).add(params.qparams(name).scale);
  }
  push.add(static_cast<float>(params.number("alpha")));
  push.add(1.0F / params.qparams("y").scale).add(std::int64_t{params.qparams("y").zero_point});
  add_steps(push, axes.back());
  for (std::size_t i = 0; i + 1 < most_axes; ++i) {
    const BroadcastAxis axis = i + 1 < axes.size() ? axes[i] : BroadcastAxis{};
    push.add(axis.size);
    add(push, divider(axis.size));
    add_steps(push, axis);
  }
  return push;
}

Program fused(const BuildContext& context) {
  const Physical a = context.physical(0);
  const Physical b = context.physical(1);
  const Physical y = context.physical(2);
  std::vector<BroadcastAxis> axes = broadcast_axes(a, b, y);
  // Four neighbours along the fastest axis, along which an operand steps word by word or not at all.
  const bool whole = axes[0].size % 4 == 0;
  const bool a_whole = whole && axes[0].a_step == 1;
  const bool b_whole = whole && axes[0].b_step == 1;
  if (whole) axes[0] = {axes[0].size / 4, axes[0].a_step * 4, axes[0].b_step * 4};
  if (axes[0].size == 1 && axes.size() > 1) axes.erase(axes.begin());
  if (axes.size() > most_axes) throw std::logic_error("q8ta_add: the tensors have more than four axes");
  const std::int64_t vectors = y.bytes() / (whole ? 16 : 4);
  Dispatch dispatch;
  dispatch.label = "add";
  dispatch.shader = "q8ta_add.comp";
  dispatch.defines = {{"WHOLE_QUADS", flag(whole)},
                      {"A_WHOLE", flag(a_whole)},
                      {"B_WHOLE", flag(b_whole)},
                      activation_define(references::activation_of(context.params)),
                      rounding_define(context.device)};
  dispatch.constants = {{"axis_count", static_cast<std::uint32_t>(axes.size())},
                        {"spreads_a", spreads(a, y) ? 1U : 0U},
                        {"spreads_b", spreads(b, y) ? 1U : 0U}};
  dispatch.push = push_constants(context.params, vectors, axes);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  set_vector_grid(dispatch, context, vectors);
  return {.dispatches = {std::move(dispatch)}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (point.forms[0] != point.forms[1] || point.forms[0] != point.forms[2]) {
    return "a is " + to_string(point.forms[0]) + ", b is " + to_string(point.forms[1]) + " and y is " +
           to_string(point.forms[2]) + ": all three must have the same layout";
  }
  for (const std::string name : {"a", "b", "y"}) {
    if (auto reason = scale_invalid_reason(name, point.params.qparams(name))) return reason;
  }
  const double alpha = point.params.number("alpha");
  if (alpha != 0 && std::fabs(alpha) < smallest_alpha) {
    return "alpha " + to_string(Value(alpha)) + " is not a normal float32: devices may flush it to zero";
  }
  return too_large({point.forms[2], DType::I8, point.tensors[2].shape});
}

/// Derived, so that it is no part of the data of cases without it, which are older than it (data_text()).
ParamSpec activation() {
  ParamSpec spec = activation_param();
  spec.fallback.reset();
  spec.derive = [](const Params&) { return Value(std::string("none")); };
  spec.doc += "; by default none";
  return spec;
}

ParamSpec alpha() {
  ParamSpec spec = number("alpha").by_default(1.0).says("factor of b, rounded to float32");
  spec.min_number = -largest_alpha;
  spec.max_number = largest_alpha;
  return spec;
}

}  // namespace

std::vector<BroadcastAxis> broadcast_axes(const Physical& a, const Physical& b, const Physical& y) {
  std::vector<Placed> placed;
  for (std::size_t dim = 0; dim < 4; ++dim) {
    for (const Placed& test_case : axes_of_dim(a, b, y, dim)) {
      if (test_case.second.size > 1) placed.push_back(test_case);
    }
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& l, const Placed& r) { return l.first < r.first; });
  std::vector<BroadcastAxis> axes;
  for (const Placed& test_case : placed) {
    if (axes.empty() || !merge(axes.back(), test_case.second)) axes.push_back(test_case.second);
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

bool spreads(const Physical& operand, const Physical& y) {
  return sizes_of(operand)[packed_dim(y)] != sizes_of(y)[packed_dim(y)];
}

Op q8ta_add() {
  return {
      .name = "q8ta_add",
      .summary = "a + alpha * b on int8x4 tensors, with an activation, requantization and broadcasting",
      .params = {shape("shape", rank(1, 4)).says("of a"),
                 shape("b_shape", rank(1, 4))
                     .derived([](const Params& earlier) { return earlier.ints("shape"); })
                     .says("by default a's; aligned at the right, dims are equal or one of them is 1"),
                 alpha(), activation(), qparams("a"), qparams("b"), qparams("y")},
      .tensors = tensors,
      .reference = references::q8ta_add,
      .work = work,
      .impls = {{.name = "fused",
                 .summary = "one dispatch: 16 bytes at a time, all tensors in the same layout",
                 .tunables = {local_size_tunable(), vectors_tunable()},
                 .build = fused,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
