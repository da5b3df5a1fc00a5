#include "references/convolution/convolution.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::references {
namespace {

HeightWidth pair_of(const Params& params, std::string_view name) {
  const std::vector<std::int64_t>& both = params.ints(name);
  return {both[0], both[1]};
}

/// [h, w], or [top, left, bottom, right].
void read_padding(const Params& params, Convolution& conv) {
  const std::vector<std::int64_t>& sides = params.ints("padding");
  conv.padding = {sides[0], sides[1]};
  conv.padding_end = sides.size() == 4 ? HeightWidth{sides[2], sides[3]} : conv.padding;
}

void check_padding(const Params& params) {
  const std::size_t sides = params.ints("padding").size();
  if (sides == 2 || sides == 4) return;
  throw ParameterError(
      "padding",
      fmt::format("padding has {} entries, but must be [h, w] or [top, left, bottom, right]", sides));
}

/// "1 x 2", or "1 x 2 before and 0 x 3 after x" where its sides differ.
std::string padding_text(const Convolution& conv) {
  const auto text = [](const HeightWidth& sides) { return fmt::format("{} x {}", sides[0], sides[1]); };
  if (conv.padding == conv.padding_end) return text(conv.padding);
  return fmt::format("{} before and {} after x", text(conv.padding), text(conv.padding_end));
}

void check_groups(const Convolution& conv) {
  for (const auto& [name, channels] : {std::pair{"C", conv.c}, {"OC", conv.oc}}) {
    if (channels % conv.groups == 0) continue;
    throw ParameterError(
        "groups", fmt::format("groups is {}, but must divide {}, which is {}", conv.groups, name, channels));
  }
}

void check_size_of_y(const Convolution& conv) {
  const HeightWidth size = conv.size_of_y();
  if (size[0] >= 1 && size[1] >= 1) return;
  throw ParameterError("kernel",
                       fmt::format("y would be {} x {}: the kernel of {} x {}, dilated by {} x {}, does not "
                                   "fit x of {} x {} with a padding of {}",
                                   size[0], size[1], conv.kernel[0], conv.kernel[1], conv.dilation[0],
                                   conv.dilation[1], conv.h, conv.w, padding_text(conv)));
}

void check_output_padding(const Convolution& conv) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (conv.output_padding[i] < std::max(conv.stride[i], conv.dilation[i])) continue;
    throw ParameterError("output_padding",
                         fmt::format("output_padding is {}, but must be less than the stride or the "
                                     "dilation, which are {} and {}",
                                     conv.output_padding[i], conv.stride[i], conv.dilation[i]));
  }
}

}  // namespace

Shape Convolution::w_shape() const {
  if (transposed) return {c, outputs_of_group(), kernel[0], kernel[1]};
  return {oc, channels_of_group(), kernel[0], kernel[1]};
}

HeightWidth Convolution::size_of_y() const {
  HeightWidth size{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t length = i == 0 ? h : w;
    const std::int64_t reach = dilation[i] * (kernel[i] - 1);
    if (transposed) {
      size[i] = (length - 1) * stride[i] - both_paddings(i) + reach + output_padding[i] + 1;
    } else {
      const std::int64_t last = length + both_paddings(i) - reach - 1;
      size[i] = last < 0 ? 0 : last / stride[i] + 1;
    }
  }
  return size;
}

std::optional<std::int64_t> Convolution::met(std::size_t axis, std::int64_t index, std::int64_t tap) const {
  std::int64_t at = index * stride[axis] - padding[axis] + tap * dilation[axis];
  if (transposed) {
    at = index + padding[axis] - tap * dilation[axis];
    if (at % stride[axis] != 0) return std::nullopt;
    at /= stride[axis];
  }
  const bool is_inside = at >= 0 && at < (axis == 0 ? h : w);
  return is_inside ? std::optional(at) : std::nullopt;
}

Linear Convolution::linear_of_group() const {
  Linear linear;
  linear.m = pixels_of_y();
  linear.k = depth();
  linear.n = outputs_of_group();
  linear.bias = bias;
  linear.activation = activation;
  linear.real = real;
  return linear;
}

Convolution checked_convolution(const Params& params) {
  Convolution conv;
  conv.n = params.integer("N");
  conv.c = params.integer("C");
  conv.h = params.integer("H");
  conv.w = params.integer("W");
  conv.oc = params.integer("OC");
  conv.kernel = pair_of(params, "kernel");
  conv.stride = pair_of(params, "stride");
  read_padding(params, conv);
  conv.dilation = pair_of(params, "dilation");
  conv.groups = params.integer("groups");
  conv.transposed = params.has("output_padding");
  if (conv.transposed) conv.output_padding = pair_of(params, "output_padding");
  conv.bias = params.boolean("bias");
  conv.activation = activation_of(params);
  if (params.has("dtype")) conv.real = parse_dtype(params.choice("dtype")).value();
  return conv;
}

Convolution convolution_params(const Params& params, std::int64_t largest_depth) {
  check_padding(params);
  const Convolution conv = checked_convolution(params);
  check_groups(conv);
  if (conv.depth() > largest_depth) {
    throw ParameterError("C", fmt::format("an output sums {} products, but the sums of more than {} may "
                                          "leave int32",
                                          conv.depth(), largest_depth));
  }
  if (conv.transposed) check_output_padding(conv);
  check_size_of_y(conv);
  return conv;
}

}  // namespace assay::references
