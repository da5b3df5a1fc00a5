#include "ops/linear/weights.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
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

/// The extent of packed weights: rows of units of 16 bytes.
struct Extent {
  std::int64_t rows = 0, units = 0;
};

std::int64_t values_of_word(WeightKind kind) {
  return is_int4(kind) ? 8 : 4;
}

/// The number of values along K, with the zeros between them.
std::int64_t packed_depth(std::int64_t depth, const Packing& packing) {
  if (packing.padded_depth == 0) return depth;
  return div_up(depth, packing.slab_depth) * packing.padded_depth;
}

Extent extent_of(const Params& params, WeightKind kind, const Packing& packing) {
  const std::int64_t quads = div_up(params.integer("N"), 4);
  const std::int64_t words = div_up(packed_depth(params.integer("K"), packing), values_of_word(kind));
  return packing.by_rows ? Extent{4 * quads, div_up(words, 4)} : Extent{quads, words};
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
          .doc = "where packed weights lie: 0 in a buffer, 1 in a 2D texture"};
}

PackedWeights packed_weights(Program& program, const BuildContext& context, WeightKind kind,
                             const Packing& packing) {
  const references::Linear linear = references::checked_linear(context.params);
  const Extent extent = extent_of(context.params, kind, packing);
  const bool in_texture = wants_texture(context);
  const Resource words = add_scratch(program, {.name = "packed_w",
                                               .dtype = DType::I32,
                                               .shape = {extent.rows, 4 * extent.units},
                                               .form = in_texture ? texture : buffer});
  Dispatch dispatch = setup("pack", "linear_pack.comp", context, extent.rows * extent.units);
  dispatch.defines = {{"W_BITS", is_int4(kind) ? "4" : "8"},
                      {"W_ROWS", flag(packing.by_rows)},
                      {"FOR_HALVES", flag(packing.for_halves)},
                      {"W_TEXTURE", flag(in_texture)}};
  if (is_int4(kind)) dispatch.defines.push_back({"HIGH_FIRST", flag(kind == WeightKind::Int4HighFirst)});
  const bool pads = packing.padded_depth > 0;
  const std::int64_t blocks = packing.by_rows ? 4 * extent.units : extent.units;
  const std::int64_t all = blocks * values_of_word(kind);
  dispatch.push.add(linear.n).add(linear.k).add(extent.rows).add(extent.units);
  add(dispatch.push, divider(extent.units));
  dispatch.push.add(pads ? packing.slab_depth : all).add(pads ? packing.padded_depth : all);
  add(dispatch.push, divider(pads ? packing.padded_depth : all));
  dispatch.bindings = {tensor_named(context, "w").resource, words};
  program.dispatches.push_back(std::move(dispatch));
  // Groups are whole slabs where zeros lie between slabs.
  const std::int64_t group_depth = packing.padded_depth == packing.slab_depth
                                       ? linear.group_size
                                       : packed_depth(linear.group_size, packing);
  const std::int64_t of_group = linear.group_size == 0 ? blocks : group_depth / values_of_word(kind);
  return {words, in_texture, packing, blocks, div_up(linear.n, 4), of_group};
}

std::optional<std::string> weight_texture_unsupported_reason(const BuildContext& context, WeightKind kind,
                                                             const Packing& packing) {
  if (!wants_texture(context)) return std::nullopt;
  const Extent extent = extent_of(context.params, kind, packing);
  const TextureSupport* support = context.device.texture(Storage::Texture2D, DType::I32);
  if (support == nullptr || !support->sampled) return "sampled 2D textures of rgba32i are missing";
  if (extent.units <= support->max_extent[0] && extent.rows <= support->max_extent[1]) return std::nullopt;
  return fmt::format("the weights' texture of {} x {} texels exceeds the device's largest of {} x {}",
                     extent.units, extent.rows, support->max_extent[0], support->max_extent[1]);
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
                      {"W_ROWS", flag(weights.packing.by_rows)},
                      {"W_TEXTURE", flag(weights.is_texture)},
                      {"W_AT", "0"},
                      {"SUMS_AT", "1"}};
  dispatch.bindings = {weights.is_texture ? sampled(weights.words) : Binding(weights.words), sums};
  if (zero_points) {
    dispatch.defines.push_back({"W_ZERO_AT", "2"});
    dispatch.bindings.emplace_back(*zero_points);
  }
  dispatch.push.add(weights.quads).add(weights.blocks);
  const bool pads = weights.packing.padded_depth > 0;
  dispatch.push.add(weights.blocks_of_group);
  dispatch.push.add(pads ? weights.packing.slab_depth / values_of_word(kind) : weights.blocks);
  dispatch.push.add(pads ? weights.packing.padded_depth / values_of_word(kind) : weights.blocks);
  dispatch.push.add(linear.groups());
  add(dispatch.push, divider(weights.quads));
  program.dispatches.push_back(std::move(dispatch));
  return sums;
}

HalfScales half_scales(Program& program, const BuildContext& context) {
  const references::Linear linear = references::checked_linear(context.params);
  const std::int64_t quads = div_up(linear.n, 4);
  const Resource scales = padded_table(program, context, "w_scale", false);
  const Resource halves = add_scratch(
      program,
      {.name = "w_half_scales", .dtype = DType::I32, .shape = {linear.groups(), 4 * quads}, .form = buffer});
  const Resource factors =
      add_scratch(program, {.name = "w_factors", .dtype = DType::F32, .shape = {4 * quads}, .form = buffer});
  Dispatch dispatch = setup("round scales", "linear_half_scales.comp", context, 1);
  dispatch.workgroups = fold_grid(quads * dispatch.local_size[0], dispatch.local_size[0],
                                  context.device.max_workgroup_count[0]);
  dispatch.push.add(quads).add(linear.groups());
  dispatch.bindings = {scales, halves, factors};
  program.dispatches.push_back(std::move(dispatch));
  return {halves, factors};
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
