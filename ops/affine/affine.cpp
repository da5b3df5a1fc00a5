#include "ops/affine/affine.h"

#include "ops/common/block_axes.h"
#include "ops/common/defines.h"
#include "ops/common/forms.h"
#include "ops/common/grid.h"
#include "ops/common/push.h"
#include "ops/common/tensor_at.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace assay::ops {
namespace {

using references::Affine;
using references::ZeroPointDomain;

// Of shaders/common/affine_buffer.glslh and affine_texture.glslh: `in_one_block` belongs to both.
constexpr std::uint32_t axis_count_id = SpecConstant::first_free;
constexpr std::uint32_t split_dims_id = SpecConstant::first_free;
constexpr std::uint32_t in_one_block_id = SpecConstant::first_free + 1;
constexpr std::uint32_t packed_dim_id = SpecConstant::first_free + 3;
constexpr std::uint32_t places_id = SpecConstant::first_free + 4;
constexpr std::uint32_t same_blocks_id = SpecConstant::first_free + 5;
constexpr std::uint32_t rounds_id = SpecConstant::first_free + 6;
constexpr std::int64_t most_places = 4;
constexpr std::int64_t least_neighbours = 4;  // invocations whose quads of f16 fill 32 bytes
// Quads from which an invocation takes several: as many as large devices hold invocations for twice.
constexpr std::int64_t many_quads = 1 << 20;
constexpr std::size_t most_axes = 4;
constexpr double largest_float_zero_point = 2;

Form buffer(Layout layout) {
  return {Storage::Buffer, layout};
}

PushConstants range_constants(const Affine& affine) {
  PushConstants push;
  push.add(static_cast<float>(affine.quant_min)).add(static_cast<float>(affine.quant_max));
  return push;
}

PushConstants buffer_constants(const Affine& affine, std::int64_t elements, std::vector<BlockAxis> axes,
                               std::int64_t apart) {
  PushConstants push = range_constants(affine);
  push.add(elements);
  axes.resize(most_axes);
  for (const BlockAxis& axis : axes) {
    push.add(axis.size);
    add(push, divider(axis.size));
    add(push, divider(axis.block));
    push.add(axis.stride);
  }
  push.add(apart);
  add(push, divider(apart));
  return push;
}

/// W, H, C, N: the dims in the order in which the texture kernels count them.
std::array<BlockAxis, most_axes> texture_dims(const Affine& affine) {
  std::array<BlockAxis, most_axes> dims = axes_by_dim(affine.grid);
  std::reverse(dims.begin(), dims.end());
  return dims;
}

PushConstants texture_constants(const Affine& affine, const Physical& physical) {
  const std::int64_t slices = physical.extent()[2] / physical.dims().n;
  PushConstants push = range_constants(affine);
  for (const std::uint32_t texels : physical.extent()) push.add(std::int64_t{texels});
  push.add(slices);
  add(push, divider(slices));
  for (const BlockAxis& dim : texture_dims(affine)) {
    push.add(dim.size);
    add(push, divider(dim.block));
    push.add(dim.stride);
  }
  return push;
}

references::QuantRange range_of(const Params& params) {
  return references::quant_range(parse_dtype(params.choice("quantized")).value());
}

std::string domain_define(ZeroPointDomain domain) {
  switch (domain) {
    case ZeroPointDomain::None:
      return "DOMAIN_NONE";
    case ZeroPointDomain::Float:
      return "DOMAIN_FLOAT";
    default:
      return "DOMAIN_INT";
  }
}

/// How a buffer's quads are shared out: runs of `apart` invocations take `apart` x `places` x `rounds`
/// neighbouring quads, each of them every `apart`-th.
struct Shares {
  std::int64_t places = 1;  ///< quads of an invocation that it reads at once
  std::int64_t rounds = 1;  ///< so often it does so
  std::int64_t apart = 1;
  bool same_blocks = false;  ///< an invocation's quads are known to have the same blocks, lane by lane

  std::int64_t each() const { return places * rounds; }
};

/// Where quads lie in one block each: an invocation's own lie in one block too, if blocks are long enough
/// that neighbours still fill whole sectors of memory.
Shares shares_of_whole(const BuildContext& context, const std::vector<BlockAxis>& axes, std::int64_t quads,
                       std::int64_t workgroup) {
  Shares shares;
  shares.places = context.tuned("places", quads >= many_quads ? most_places : 1);
  shares.rounds = context.tuned("rounds", 1);
  std::int64_t apart = workgroup;
  std::int64_t block = 0;  // all is one
  if (!axes.empty()) {
    apart = power_of_two_within(workgroup);
    block = axes.size() == 1 ? axes[0].block / 4 : std::gcd(axes[0].block / 4, axes[0].size / 4);
    while (apart > least_neighbours && block % (apart * shares.each()) != 0) apart /= 2;
  }
  shares.apart = context.tuned("apart", apart);
  shares.same_blocks = block % (shares.apart * shares.each()) == 0;
  return shares;
}

/// Whether the quads at one place of neighbouring rows have the same blocks, lane by lane, in runs of so many
/// rows: per channel, say, where the channels lie along the fastest axis.
bool rows_repeat(const std::vector<BlockAxis>& axes, std::int64_t quads, std::int64_t rows) {
  if (axes.size() != 2 || axes[0].size % 4 != 0 || axes[0].size < 4 * least_neighbours) return false;
  return axes[0].size / 4 * rows <= quads && (axes[1].stride == 0 || axes[1].block % rows == 0);
}

/// Where lanes have blocks of their own: an invocation's quads lie one above the other in rows that repeat.
Shares shares_of_lanes(const BuildContext& context, const std::vector<BlockAxis>& axes, std::int64_t quads,
                       std::int64_t workgroup) {
  const bool many = quads >= many_quads && rows_repeat(axes, quads, most_places);
  const bool more = quads >= many_quads * most_places && rows_repeat(axes, quads, most_places * most_places);
  Shares shares;
  shares.places = context.tuned("places", many ? most_places : 1);
  shares.rounds = context.tuned("rounds", more ? most_places : 1);
  const bool repeats = rows_repeat(axes, quads, shares.each());
  const std::int64_t row = axes[0].size / 4;
  shares.apart = context.tuned("apart", repeats ? row : workgroup);
  shares.same_blocks = repeats && shares.apart == row;
  return shares;
}

void use_buffers(Dispatch& dispatch, const BuildContext& context, const Affine& affine) {
  const std::vector<BlockAxis> axes = block_axes(affine.grid, context.forms[0].layout);
  const std::int64_t elements = numel(affine.grid.shape);
  dispatch.defines.push_back(texture_define(context.forms[0]));
  dispatch.defines.push_back({"WHOLE_QUADS", flag(elements % 4 == 0)});
  const bool in_one_block = quads_in_one_block(axes);
  const std::int64_t quads = div_up(elements, 4);
  const std::int64_t local = tuned_local_size(context, quads >= many_quads ? quads / most_places : quads);
  const Shares shares = in_one_block ? shares_of_whole(context, axes, quads, local)
                                     : shares_of_lanes(context, axes, quads, local);
  dispatch.constants = {{axis_count_id, static_cast<std::uint32_t>(axes.size())},
                        {in_one_block_id, in_one_block ? 1u : 0u},
                        {places_id, static_cast<std::uint32_t>(shares.places)},
                        {same_blocks_id, shares.same_blocks || shares.each() == 1 ? 1u : 0u},
                        {rounds_id, static_cast<std::uint32_t>(shares.rounds)}};
  dispatch.push = buffer_constants(affine, elements, axes, shares.apart);
  dispatch.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  dispatch.workgroups =
      fold_grid(div_up(quads, shares.each() * shares.apart) * shares.apart, dispatch.local_size[0]);
}

void use_textures(Dispatch& dispatch, const BuildContext& context, const Affine& affine) {
  const Physical physical = context.physical(0);
  const std::array<BlockAxis, most_axes> dims = texture_dims(affine);
  const auto packed = static_cast<std::uint32_t>(packed_axis(physical.form().layout));
  std::uint32_t split_dims = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) split_dims |= dims[i].stride == 0 ? 0u : 1u << i;
  const bool in_one_block = dims[packed].stride == 0 || dims[packed].block % 4 == 0;
  dispatch.defines.push_back(texture_define(physical.form()));
  dispatch.defines.push_back({"QUANT_U8", flag(affine.quantized == DType::U8)});
  dispatch.constants = {
      {split_dims_id, split_dims}, {in_one_block_id, in_one_block ? 1u : 0u}, {packed_dim_id, packed}};
  dispatch.push = texture_constants(affine, physical);
  set_texture_grid(dispatch, context, physical.extent());
}

}  // namespace

std::vector<Tunable> affine_tunables() {
  std::vector<Tunable> tunables = local_extent_tunables();
  tunables.insert(tunables.begin(), local_size_tunable());
  tunables.push_back({.name = "places",
                      .fallback = 0,
                      .min = 1,
                      .max = most_places,
                      .doc = "buffers: quads of an invocation; by default chosen from the tensor's size"});
  tunables.push_back({.name = "apart",
                      .fallback = 0,
                      .min = 1,
                      .max = 1 << 20,
                      .doc = "buffers: quads from one of an invocation to its next; by default chosen so "
                             "that they share blocks"});
  tunables.push_back({.name = "rounds",
                      .fallback = 0,
                      .min = 1,
                      .max = 64,
                      .doc =
                          "buffers: how often an invocation reads `places` quads; by default more than once "
                          "where rows share blocks that lanes do not"});
  return tunables;
}

std::vector<ParamSpec> affine_params() {
  return {
      shape("shape", rank(1, 4)),
      ints("block_size", rank(1, 4)).says("elements of a block along each dim; -1 is the whole dim"),
      choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of the real values"),
      choice("quantized", {"i8", "u8", "i32"})
          .by_default(std::string("i8"))
          .says("type of the integers; i32 holds the i16 range"),
      integer("quant_min")
          .derived([](const Params& earlier) { return range_of(earlier).min; })
          .says("smallest integer; by default that of `quantized`"),
      integer("quant_max")
          .derived([](const Params& earlier) { return range_of(earlier).max; })
          .says("largest integer; by default that of `quantized`"),
      choice("zero_point_domain", {"int", "none", "float"})
          .by_default(std::string("int"))
          .says("int: an i32 a block; none: real = scale * q; float: the real value of the range's middle"),
  };
}

TensorSpec affine_data(const Affine& affine, std::string name, TensorSpec::Role role, DType dtype,
                       FillDomain domain) {
  return {.name = std::move(name),
          .role = role,
          .dtype = dtype,
          .shape = affine.grid.shape,
          .forms = float_forms(),
          .domain = domain};
}

std::vector<TensorSpec> affine_block_tensors(const Affine& affine) {
  std::vector<TensorSpec> tensors{{.name = "scale",
                                   .dtype = DType::F32,
                                   .shape = affine.grid.counts,
                                   .forms = {buffer(Layout::WP)},
                                   .domain = {FillRole::Scale, 0, 0}}};
  if (affine.domain == ZeroPointDomain::None) return tensors;
  const bool in_float = affine.domain == ZeroPointDomain::Float;
  const double low = in_float ? -largest_float_zero_point : affine.quant_min;
  const double high = in_float ? largest_float_zero_point : affine.quant_max;
  tensors.push_back({.name = "zero_point",
                     .dtype = in_float ? DType::F32 : DType::I32,
                     .shape = affine.grid.counts,
                     .forms = {buffer(Layout::WP)},
                     .domain = {FillRole::ZeroPoint, low, high}});
  return tensors;
}

Work affine_work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = 2 * numel(params.ints("shape"));
  return work;
}

Dispatch affine_dispatch(const BuildContext& context, std::string label, std::string shader) {
  const Affine affine = references::affine(context.params);
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = std::move(shader);
  dispatch.defines = {{"REAL_F16", flag(affine.real == DType::F16)},
                      {"QUANT_I32", flag(affine.quantized == DType::I32)},
                      {"DOMAIN", domain_define(affine.domain)}};
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i) dispatch.bindings.push_back(Resource::tensor(i));
  if (context.forms[0].storage == Storage::Buffer) {
    use_buffers(dispatch, context, affine);
  } else {
    use_textures(dispatch, context, affine);
  }
  return dispatch;
}

std::optional<std::string> affine_excludes(const Params& params, std::span<const TensorSpec> tensors,
                                           std::span<const Form> forms) {
  if (forms.front() != forms.back()) {
    return tensors.front().name + " is " + to_string(forms.front()) + " and " + tensors.back().name + " is " +
           to_string(forms.back()) +
           ": an invocation writes the place that it read, so both need one storage and one layout";
  }
  const std::int64_t elements = numel(params.ints("shape"));
  if (elements >= std::int64_t{1} << 31) {
    return std::to_string(elements) + " elements are more than the 2^31 - 1 that this kernel can count";
  }
  return std::nullopt;
}

}  // namespace assay::ops
