#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/convolution/conv1d.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using references::Conv1d;
using references::conv1d_params;

constexpr std::int64_t values_of_quad = 4;

void add_geometry(Dispatch& dispatch, const Conv1d& conv) {
  set_constant(dispatch, "kernel", conv.kernel);
  set_constant(dispatch, "stride", conv.stride);
  set_constant(dispatch, "dilation", conv.dilation);
  set_constant(dispatch, "padding", conv.padding);
}

Program build(const BuildContext& context) {
  const Conv1d conv = conv1d_params(context.params);
  const bool in_textures = is_texture(context.forms[0]);
  const std::int64_t length =
      in_textures ? div_up(conv.length_of_y(), values_of_quad) * values_of_quad : conv.length_of_y();
  const std::int64_t values = conv.n * conv.outputs * length;
  const std::int64_t quads = div_up(values, values_of_quad);
  const bool one_row = length % values_of_quad == 0;
  Dispatch dispatch{.label = "convolution", .shader = "conv1d_depthwise.comp"};
  for (const auto& [name, value] : {std::pair{"F16", conv.dtype == DType::F16},
                                    {"ONE_ROW", one_row},
                                    {"WHOLE", values % values_of_quad == 0},
                                    {"ROLLING", one_row && conv.stride == conv.dilation},
                                    {"HAS_BIAS", conv.bias}})
    dispatch.defines.push_back({name, flag(value)});
  dispatch.defines.push_back(texture_define(context.forms[0]));
  add_geometry(dispatch, conv);
  dispatch.push.add(quads).add(values).add(length);
  add(dispatch.push, divider(length));
  dispatch.push.add(conv.l).add(conv.c);
  add(dispatch.push, divider(conv.c));
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i)
    dispatch.bindings.push_back(binding_of(context, i));
  set_grid(dispatch, context, quads);
  return {.dispatches = {std::move(dispatch)}};
}

/// A loop over the taps takes one iteration for each.
std::optional<std::string> unsupported_reason(const BuildContext& context) {
  return loops_unsupported_reason(conv1d_params(context.params).kernel, context.device);
}

}  // namespace

Op conv1d_dw() {
  return conv1d_op("conv1d_dw", "depthwise convolution of real values along one axis, a filter per channel",
                   true,
                   {conv1d_impl("direct", "an invocation computes four neighbours of y",
                                {local_size_tunable()}, build, unsupported_reason)});
}

}  // namespace assay::ops
