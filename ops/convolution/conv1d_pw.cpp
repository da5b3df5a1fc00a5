#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/convolution/conv1d.h"
#include "ops/matmul/matmul.h"
#include "references/linear/linear.h"

#include <utility>

namespace assay::ops {
namespace {

using references::Conv1d;
using references::conv1d_params;

constexpr LinearKind of_reals{XKind::Real, WeightKind::Int8};

/// The convolution as a product for the choice of tiles: w by x, each sequence a matrix of its own.
references::Linear linear_of(const Conv1d& conv) {
  references::Linear linear;
  if (conv.n > 1) linear.batch = {conv.n};
  linear.m = conv.outputs;
  linear.k = conv.c;
  linear.n = conv.length_of_y();
  linear.real = conv.dtype;
  return linear;
}

/// Whether some places of y read the padding.
bool reads_padding(const Conv1d& conv) {
  const Conv1d::Range met = conv.met_by(0);
  return met.first > 0 || met.last < conv.length_of_y();
}

/// Gives `product` the bindings, #defines and push constants of shaders/convolution/conv1d_operands.glslh.
void add_operands(Dispatch& product, const BuildContext& context, const Slots& slots, std::int64_t tiles_n) {
  const Conv1d conv = conv1d_params(context.params);
  const std::int64_t length = conv.length_of_y();
  const bool in_textures = is_texture(context.forms[0]);
  const bool copies_places = conv.stride == 1 && conv.padding == 0 && length == conv.l;
  for (const auto& [name, value] : {std::pair{"CONV1D", true},
                                    {"X_F16", conv.dtype == DType::F16},
                                    {"X_ALIGNED", conv.c % 4 == 0},
                                    {"X_EIGHTS", false},
                                    {"Y_ALIGNED", length % 4 == 0},
                                    {"B_ALIGNED", copies_places && (in_textures || length % 4 == 0)},
                                    {"PADDED", reads_padding(conv)},
                                    {"PLANES", conv.n > 1}})
    product.defines.push_back({name, flag(value)});
  product.defines.push_back(texture_define(context.forms[0]));
  std::vector<const char*> places{"B_AT", "X_AT"};
  if (conv.bias) places.push_back("CHANNEL_BIAS_AT");
  places.push_back("Y_AT");
  for (std::uint32_t i = 0; i < places.size(); ++i) bind_at(product, places[i], binding_of(context, i));
  PushConstants& push = product.push;
  push.add(conv.outputs).add(slots.all).add(slots.of_plane);
  add(push, divider(slots.of_plane));
  push.add(conv.c).add(length).add(div_up(length, 4)).add(tiles_n);
  add(push, divider(tiles_n));
  push.add(conv.l).add(conv.stride).add(conv.padding);
}

Program build(const BuildContext& context) {
  const Conv1d conv = conv1d_params(context.params);
  const Tiling tiling = tiling_of(context, linear_of(conv), of_reals);
  const Slots slots = slots_of_planes(conv.n, conv.outputs, tiling.m);
  Dispatch product = tiled_product(tiling, slots.all, conv.length_of_y(), context.device);
  add_operands(product, context, slots, div_up(conv.length_of_y(), tiling.n));
  return {.dispatches = {std::move(product)}};
}

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const Conv1d conv = conv1d_params(context.params);
  const references::Linear linear = linear_of(conv);
  const Tiling tiling = tiling_of(context, linear, of_reals);
  if (auto reason = slots_unsupported_reason(slots_of_planes(conv.n, conv.outputs, tiling.m))) return reason;
  return tiling_unsupported_reason(tiling, linear, of_reals, context.device);
}

}  // namespace

Op conv1d_pw() {
  return conv1d_op("conv1d_pw", "pointwise convolution of real values along one axis, without groups", false,
                   {conv1d_impl("tiled", "tiles in shared memory: w times each sequence of x",
                                tiling_tunables(of_reals), build, unsupported_reason)});
}

}  // namespace assay::ops
