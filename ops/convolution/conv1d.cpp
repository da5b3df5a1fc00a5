#include "ops/convolution/conv1d.h"

#include "ops/common/unit_error.h"
#include "ops/convolution/positions.h"
#include "ops/linear/tensors.h"
#include "references/matmul/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {
namespace {

using references::Conv1d;
using references::conv1d_params;

std::vector<ParamSpec> params_of(bool depthwise) {
  std::vector<ParamSpec> all{
      integer("N").at_least(1).by_default(std::int64_t{1}).says("sequences"),
      integer("C").at_least(1).says(depthwise ? "channels of x and y" : "channels of x"),
      integer("L").at_least(1).says("length of x")};
  if (!depthwise) all.push_back(integer("OC").at_least(1).says("channels of y"));
  ParamSpec kernel = integer("kernel").at_least(1).says("taps");
  all.push_back(depthwise ? std::move(kernel)
                          : std::move(kernel).at_most(1).by_default(std::int64_t{1}).says("taps: 1"));
  all.push_back(integer("stride").at_least(1).by_default(std::int64_t{1}).says("along the length"));
  all.push_back(ints("padding", rank(1, 2))
                    .at_least(0)
                    .by_default(std::vector<std::int64_t>{0})
                    .says("real zeros around x: [p], the same on both sides, or [left, right]"));
  all.push_back(integer("dilation")
                    .at_least(1)
                    .by_default(std::int64_t{1})
                    .says(depthwise ? "distance between the kernel's taps" : "has no effect on one tap"));
  all.push_back(boolean("bias").by_default(false).says("whether there is a tensor `bias`, added to y"));
  all.push_back(choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of x, w and y"));
  return all;
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Conv1d conv = conv1d_params(params);
  TensorSpec x{.name = "x", .dtype = conv.dtype, .shape = conv.x_shape()};
  x.forms = {{Storage::Buffer, Layout::WP}, {Storage::Texture3D, Layout::WP}};
  x.domain.most = references::largest_factor;
  TensorSpec w = constant_tensor("w", conv.dtype, conv.w_shape());
  w.domain.most = references::largest_factor;
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = conv.dtype, .shape = conv.y_shape()};
  y.forms = x.forms;
  y.output_class = OutputClass::Bounded;
  std::vector<TensorSpec> all{std::move(x), std::move(w)};
  if (conv.bias) {
    all.push_back(constant_tensor("bias", DType::F32, {conv.outputs}));
    all.back().domain.most = references::largest_addend;
  }
  all.push_back(std::move(y));
  return all;
}

/// Counts each tensor's bytes once, of x those that some tap meets, and the operations of all taps except
/// those that lie in the padding.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const Conv1d conv = conv1d_params(params);
  std::int64_t meetings = 0;
  for (std::int64_t tap = 0; tap < conv.kernel; ++tap) {
    const Conv1d::Range range = conv.met_by(tap);
    meetings += std::max<std::int64_t>(0, range.last - range.first);
  }
  const std::array axes{ConvolutionAxis{.x = conv.l,
                                        .y = conv.length_of_y(),
                                        .kernel = conv.kernel,
                                        .stride = conv.stride,
                                        .padding = conv.padding,
                                        .dilation = conv.dilation}};
  Work work = streaming_work(tensors);
  const std::int64_t values = conv.n * conv.c * positions_passed_over(axes);
  work.bytes_read -= values * static_cast<std::int64_t>(size_of(conv.dtype));
  work.operations = 2 * conv.n * conv.outputs * (conv.depthwise ? 1 : conv.c) * meetings;
  return work;
}

/// Consecutive roundings in an element: a product and a sum for each value of w that it meets, and the bias.
double unit_error(const BuildContext& context) {
  const Conv1d conv = conv1d_params(context.params);
  return gamma_of(conv.kernel * (conv.depthwise ? 1 : conv.c) + 2);
}

}  // namespace

std::optional<std::string> conv1d_invalid_reason(const ImplPoint& point) {
  if (auto reason = mixed_forms(point)) return reason;
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  constexpr std::int64_t most = 1 << 30;
  const Conv1d conv = conv1d_params(point.params);
  const std::int64_t reach = std::max({conv.l + conv.padding + conv.padding_end, conv.stride, conv.reach()});
  if (reach <= most) return std::nullopt;
  return fmt::format("places reach {}, which exceeds the {} that this kernel can count", reach, most);
}

Impl conv1d_impl(std::string name, std::string summary, std::vector<Tunable> tunables,
                 Program (*build)(const BuildContext&),
                 std::optional<std::string> (*unsupported_reason)(const BuildContext&)) {
  Impl impl{.name = std::move(name)};
  impl.summary = std::move(summary);
  impl.ceiling = Ceiling::Fp32;
  impl.tunables = std::move(tunables);
  impl.build = build;
  impl.invalid_reason = conv1d_invalid_reason;
  impl.unsupported_reason = unsupported_reason;
  impl.unit_error = unit_error;
  return impl;
}

Op conv1d_op(std::string name, std::string summary, bool depthwise, std::vector<Impl> impls) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .params = params_of(depthwise),
          .tensors = tensors,
          .reference = references::conv1d,
          .work = work,
          .impls = std::move(impls)};
}

}  // namespace assay::ops
