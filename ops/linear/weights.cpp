#include "ops/linear/weights.h"

#include "ops/common/defines.h"
#include "ops/common/grid.h"
#include "ops/common/push.h"
#include "ops/linear/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

constexpr Form buffer{Storage::Buffer, Layout::WP};
constexpr Form texture{Storage::Texture2D, Layout::WP};
constexpr std::int64_t setup_local_size = 64;

struct Blocks {
  std::int64_t quads = 0, along_k = 0;
};

std::int64_t depth_of_block(WeightKind kind) {
  return is_int4(kind) ? 8 : 4;
}

Blocks blocks_of(const Params& params, WeightKind kind, const Packing& packing) {
  const std::int64_t depth = div_up(params.integer("K"), packing.depth) * packing.depth;
  return {div_up(params.integer("N"), 4), div_up(depth, depth_of_block(kind))};
}

bool wants_texture(const ImplPoint& point) {
  return point.tuned("weights", 0) != 0;
}

Dispatch setup(std::string label, std::string shader, const BuildContext& context, std::int64_t invocations) {
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = std::move(shader);
  dispatch.role = DispatchRole::Setup;
  const auto local_size =
      static_cast<std::uint32_t>(std::min(setup_local_size, most_invocations(context.device)));
  dispatch.local_size = {local_size, 1, 1};
  dispatch.workgroups = fold_grid(invocations, local_size, context.device.max_workgroup_count[0]);
  return dispatch;
}

}  // namespace

Tunable weights_tunable() {
  return {.name = "weights",
          .fallback = 0,
          .min = 0,
          .max = 1,
          .doc = "where packed weights are: 0 a buffer, 1 a 2D texture"};
}

PackedWeights packed_weights(Program& program, const BuildContext& context, WeightKind kind,
                             const Packing& packing) {
  const references::Linear linear = references::checked_linear(context.params);
  const Blocks blocks = blocks_of(context.params, kind, packing);
  const bool in_texture = wants_texture(context);
  const Resource words = add_scratch(program, {.name = "packed_w",
                                               .dtype = DType::I32,
                                               .shape = {blocks.quads, 4 * blocks.along_k},
                                               .form = in_texture ? texture : buffer});
  Dispatch dispatch = setup("pack", "linear_pack.comp", context, blocks.quads * blocks.along_k);
  dispatch.defines = {{"W_BITS", is_int4(kind) ? "4" : "8"},
                      {"W_TEXTURE", flag(in_texture)},
                      {"FOR_HALVES", flag(packing.for_halves)}};
  if (is_int4(kind)) dispatch.defines.push_back({"HIGH_FIRST", flag(kind == WeightKind::Int4HighFirst)});
  dispatch.push.add(context.params.integer("N")).add(context.params.integer("K"));
  dispatch.push.add(blocks.quads).add(blocks.along_k);
  add(dispatch.push, divider(blocks.along_k));
  dispatch.bindings = {tensor_named(context, "w").resource, words};
  program.dispatches.push_back(std::move(dispatch));
  const std::int64_t of_group =
      linear.groups() > 1 ? linear.group_size / depth_of_block(kind) : blocks.along_k;
  return {words, in_texture, blocks.along_k, blocks.quads, of_group};
}

std::optional<std::string> lacks_weight_texture(const BuildContext& context, WeightKind kind,
                                                const Packing& packing) {
  if (!wants_texture(context)) return std::nullopt;
  const Blocks blocks = blocks_of(context.params, kind, packing);
  const TextureSupport* support = context.device.texture(Storage::Texture2D, DType::I32);
  if (support == nullptr || !support->sampled) return "2D textures of rgba32i that are sampled";
  if (blocks.along_k <= support->max_extent[0] && blocks.quads <= support->max_extent[1]) return std::nullopt;
  return fmt::format("weights are a texture of {} x {} texels, the device's largest is {} x {}",
                     blocks.along_k, blocks.quads, support->max_extent[0], support->max_extent[1]);
}

Resource weight_sums(Program& program, const BuildContext& context, WeightKind kind,
                     const PackedWeights& weights, std::optional<Resource> zero_points) {
  const references::Linear linear = references::checked_linear(context.params);
  const Resource sums = add_scratch(
      program,
      {.name = "w_sums", .dtype = DType::I32, .shape = {linear.groups(), 4 * weights.quads}, .form = buffer});
  Dispatch dispatch = setup("sum weights", "linear_sums.comp", context, 1);
  const std::int64_t workgroups = linear.groups() * weights.quads;
  dispatch.workgroups = fold_grid(workgroups * dispatch.local_size[0], dispatch.local_size[0],
                                  context.device.max_workgroup_count[0]);
  dispatch.defines = {{"W_BITS", is_int4(kind) ? "4" : "8"},
                      {"W_TEXTURE", flag(weights.is_texture)},
                      {"W_AT", "0"},
                      {"SUMS_AT", "1"}};
  dispatch.bindings = {weights.is_texture ? sampled(weights.words) : Binding(weights.words), sums};
  if (zero_points) {
    dispatch.defines.push_back({"W_ZERO_AT", "2"});
    dispatch.bindings.emplace_back(*zero_points);
  }
  dispatch.push.add(weights.quads).add(weights.blocks);
  dispatch.push.add(weights.blocks_of_group).add(linear.groups());
  add(dispatch.push, divider(weights.quads));
  program.dispatches.push_back(std::move(dispatch));
  return sums;
}

Resource padded_table(Program& program, const BuildContext& context, std::string_view name, bool by_quad) {
  const std::uint32_t tensor = find_tensor(context.tensors, name).value();
  const TensorSpec& spec = context.tensors[tensor];
  const std::int64_t columns = spec.shape.back();
  const std::int64_t rows = numel(spec.shape) / columns;
  if (columns % 4 == 0 && (rows == 1 || !by_quad)) return Resource::tensor(tensor);
  const std::int64_t padded = 4 * div_up(columns, 4);
  const Resource table = add_scratch(
      program, {.name = "padded_" + spec.name, .dtype = spec.dtype, .shape = {rows, padded}, .form = buffer});
  Dispatch dispatch = setup("pad " + spec.name, "linear_pad.comp", context, rows * padded);
  dispatch.push.add(columns).add(padded).add(rows);
  add(dispatch.push, divider(padded));
  dispatch.constants = {{"by_quad", by_quad ? 1U : 0U}};
  dispatch.bindings = {Resource::tensor(tensor), table};
  program.dispatches.push_back(std::move(dispatch));
  return table;
}

}  // namespace assay::ops
