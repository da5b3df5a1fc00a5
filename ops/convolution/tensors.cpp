#include "ops/convolution/tensors.h"

#include "harness/base/error.h"
#include "ops/common/activation.h"
#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "references/convolution/conv2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using references::Convolution;
using references::HeightWidth;

ParamSpec pair(std::string name, std::int64_t least, std::int64_t by_default, const char* doc) {
  return ints(std::move(name), rank(2))
      .at_least(least)
      .by_default(std::vector<std::int64_t>{by_default, by_default})
      .says(doc);
}

ParamSpec padding_param(bool is_pointwise) {
  return ints("padding", is_pointwise ? rank(2) : rank(2, 4))
      .at_least(0)
      .by_default(std::vector<std::int64_t>{0, 0})
      .says(is_pointwise
                ? "0x0"
                : "rows and columns of real zeros around x: [h, w], the same on both sides, or [top, "
                  "left, bottom, right]");
}

std::vector<ParamSpec> sizes(ConvolutionKind kind) {
  const bool is_depthwise = kind == ConvolutionKind::Depthwise;
  const auto channels = [](const Params& params) { return Value(params.integer("C")); };
  std::vector<ParamSpec> all{integer("N").at_least(1).by_default(std::int64_t{1}).says("images"),
                             integer("C").at_least(1).says("channels of x"),
                             integer("H").at_least(1).says("height of x"),
                             integer("W").at_least(1).says("width of x")};
  ParamSpec outputs = integer("OC").at_least(1).says("channels of y");
  all.push_back(is_depthwise ? std::move(outputs).derived(channels).says("channels of y: C") : outputs);
  return all;
}

std::vector<ParamSpec> geometry(ConvolutionKind kind) {
  const bool is_pointwise = kind == ConvolutionKind::Pointwise;
  std::vector<ParamSpec> all{
      is_pointwise ? pair("kernel", 1, 1, "height and width of the kernel: 1x1")
                   : ints("kernel", rank(2)).at_least(1).says("height and width of the kernel"),
      pair("stride", 1, 1, is_pointwise ? "1x1" : "along the height and the width"),
      padding_param(is_pointwise), pair("dilation", 1, 1, "distance between the kernel's taps"),
      integer("groups").at_least(1).by_default(std::int64_t{1}).says("of channels: divides C and OC")};
  if (kind == ConvolutionKind::Depthwise) {
    all.back() = integer("groups")
                     .at_least(1)
                     .derived([](const Params& params) { return Value(params.integer("C")); })
                     .says("C");
  }
  if (kind == ConvolutionKind::Transposed) {
    all.push_back(pair("output_padding", 0, 0, "additional rows and columns at the end of y"));
  }
  return all;
}

void check_is(const HeightWidth& got, std::int64_t wanted, const char* name) {
  if (got == HeightWidth{wanted, wanted}) return;
  throw ParameterError(name, fmt::format("{} is [{}, {}], but a pointwise convolution has [{}, {}]", name,
                                         got[0], got[1], wanted, wanted));
}

void check_kind(const Convolution& conv, ConvolutionKind kind) {
  if (kind == ConvolutionKind::Pointwise) {
    check_is(conv.kernel, 1, "kernel");
    check_is(conv.stride, 1, "stride");
    check_is(conv.padding, 0, "padding");
    if (conv.groups != 1) throw ParameterError("groups", "a pointwise convolution has one group");
  }
  if (kind == ConvolutionKind::Depthwise) {
    for (const auto& [name, value] : {std::pair{"OC", conv.oc}, {"groups", conv.groups}}) {
      if (value == conv.c) continue;
      throw ParameterError(
          name, fmt::format("{} is {}; in a depthwise convolution it must equal C, which is {}", name, value,
                            conv.c));
    }
  }
}

/// Products per element. The stride of a transposed convolution takes taps away.
double depth_of_convolution(const Params& params) {
  const Convolution conv = references::checked_convolution(params);
  const double taps_left = conv.transposed ? static_cast<double>(conv.stride[0] * conv.stride[1]) : 1;
  return std::max(1.0, static_cast<double>(conv.depth()) / taps_left);
}

/// The number of pairs of an index of y and a tap, along one axis, that meet a value of x.
std::int64_t meetings(const Convolution& conv, std::size_t axis) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < conv.size_of_y()[axis]; ++i) {
    for (std::int64_t tap = 0; tap < conv.kernel[axis]; ++tap) count += conv.met(axis, i, tap) ? 1 : 0;
  }
  return count;
}

ConvolutionAxis axis_of(const Convolution& conv, std::size_t axis) {
  return {.x = axis == 0 ? conv.h : conv.w,
          .y = conv.size_of_y()[axis],
          .kernel = conv.kernel[axis],
          .stride = conv.stride[axis],
          .padding = conv.padding[axis],
          .dilation = conv.dilation[axis],
          .transposed = conv.transposed};
}

/// Why coordinates, including the padding around the tensor through which taps step, are too large, or
/// nothing.
std::optional<std::string> too_far(const Convolution& conv) {
  constexpr std::int64_t most = 1 << 30;
  for (std::size_t i = 0; i < 2; ++i) {
    const ConvolutionAxis axis = axis_of(conv, i);
    const std::int64_t length = axis.transposed ? axis.y : axis.x;
    const std::int64_t reach =
        std::max({length + conv.both_paddings(i), axis.stride, axis.dilation * (axis.kernel - 1)});
    if (reach <= most) continue;
    return fmt::format("coordinates reach {}, which exceeds the {} that this kernel can count", reach, most);
  }
  return std::nullopt;
}

}  // namespace

std::vector<ParamSpec> convolution_params(ConvolutionKind kind, std::vector<ParamSpec> own) {
  std::vector<ParamSpec> all = sizes(kind);
  std::ranges::move(geometry(kind), std::back_inserter(all));
  // y's default scale depends on all parameters of the convolution, so it comes last.
  all.push_back(boolean("bias").by_default(false).says("whether there is a tensor `bias`, added to y"));
  all.push_back(activation_param());
  std::ranges::move(own, std::back_inserter(all));
  return all;
}

Convolution convolution_of(const Params& params, ConvolutionKind kind, std::int64_t largest_depth) {
  const Convolution conv = references::convolution_params(params, largest_depth);
  check_kind(conv, kind);
  return conv;
}

ParamSpec convolution_y_qparams_param() {
  const auto x_scale = [](const Params& params) { return static_cast<double>(params.qparams("x").scale); };
  return y_qparams_param(x_scale, depth_of_convolution);
}

std::vector<Form> channel_word_forms(Layout first) {
  std::vector<Form> forms{{Storage::Buffer, first}};
  for (const LayoutInfo& info : all_layouts()) {
    const bool holds_channels = info.is_int8x4() && info.packed_dim() == LayoutInfo::dim_of('c');
    if (holds_channels && info.layout != first) forms.push_back({Storage::Buffer, info.layout});
  }
  return forms;
}

TensorSpec real_images(std::string_view name, const Convolution& conv) {
  const bool is_x = name == "x";
  TensorSpec spec{.name = std::string(name), .dtype = conv.real};
  spec.role = is_x ? TensorSpec::Role::Input : TensorSpec::Role::Output;
  spec.shape = is_x ? conv.x_shape() : conv.y_shape();
  spec.forms = {{Storage::Buffer, Layout::CP}, {Storage::Texture3D, Layout::CP}};
  return spec;
}

TensorSpec int8_images(std::string_view name, const Convolution& conv, std::vector<Form> forms) {
  TensorSpec spec = real_images(name, conv);
  spec.dtype = DType::I8;
  spec.forms = std::move(forms);
  if (spec.is_input()) spec.domain = {FillRole::Data, -128, 127};
  return spec;
}

std::vector<TensorSpec> convolution_tensors(const Convolution& conv, TensorSpec x, TensorSpec y) {
  std::vector<TensorSpec> tensors{std::move(x), constant_tensor("w", DType::I8, conv.w_shape()),
                                  weight_scales({conv.oc})};
  tensors[1].domain = {FillRole::Data, -128, 127};
  if (conv.bias) tensors.push_back(constant_tensor("bias", DType::F32, {conv.oc}));
  tensors.push_back(std::move(y));
  return tensors;
}

Work convolution_work(const Params& params, std::span<const TensorSpec> tensors) {
  const Convolution conv = references::checked_convolution(params);
  Work work = streaming_work(tensors);
  const std::array axes{axis_of(conv, 0), axis_of(conv, 1)};
  const std::int64_t values = conv.n * conv.c * positions_passed_over(axes);
  work.bytes_read -= values * static_cast<std::int64_t>(size_of(tensors[0].dtype));
  work.operations = 2 * conv.n * conv.oc * conv.channels_of_group() * meetings(conv, 0) * meetings(conv, 1);
  return work;
}

std::optional<std::string> convolution_invalid_reason(const ImplPoint& point) {
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  return too_far(references::checked_convolution(point.params));
}

Op integer_convolution(std::string name, std::string summary, ConvolutionKind kind, Layout default_layout,
                       std::vector<Impl> impls) {
  const auto tensors = [kind, default_layout](const Params& params) {
    const Convolution conv = convolution_of(params, kind, references::most_depth_with_zero_point);
    if (params.choice("epilogue") == "fixed_point") check_fixed_point(params);
    const std::vector<Form> forms = channel_word_forms(default_layout);
    return convolution_tensors(conv, int8_images("x", conv, forms), int8_images("y", conv, forms));
  };
  return {.name = std::move(name),
          .summary = std::move(summary),
          .params = convolution_params(kind, {qparams("x"), convolution_y_qparams_param(), epilogue_param()}),
          .tensors = tensors,
          .reference = references::q8ta_conv2d,
          .work = convolution_work,
          .impls = std::move(impls)};
}

}  // namespace assay::ops
