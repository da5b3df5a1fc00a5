#include "ops/affine/affine.h"

#include "ops/common/block_axes.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "references/affine/affine.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace assay::ops {
namespace {

using references::Affine;
using references::Granularity;
using references::ZeroPointDomain;

constexpr std::int64_t most_vectors = 4;      // MOST_VECTORS of shaders/common/affine.glslh
constexpr std::int64_t least_neighbours = 4;  // invocations side by side, whose quads of f16 fill 32 bytes
// The number of quads from which an invocation takes several: twice as many as large devices hold
// invocations.
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
                               std::int64_t stride) {
  PushConstants push = range_constants(affine);
  push.add(elements);
  axes.resize(most_axes);
  for (const BlockAxis& axis : axes) {
    push.add(axis.size);
    add(push, divider(axis.size));
    add(push, divider(axis.block));
    push.add(axis.stride);
  }
  push.add(stride);
  add(push, divider(stride));
  return push;
}

/// The dims in the order in which the texture kernels count them: W, H, C, N.
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

/// How a buffer's quads are shared out: each run of `stride` invocations takes `stride` x `vectors` x
/// `iterations` neighbouring quads, and each of its invocations takes every `stride`-th of them.
struct Shares {
  std::int64_t vectors = 1;     ///< quads that an invocation reads at once
  std::int64_t iterations = 1;  ///< how often it does so
  std::int64_t stride = 1;
  bool same_blocks = false;  ///< an invocation's quads are known to have the same blocks, lane by lane

  std::int64_t each() const { return vectors * iterations; }
};

/// The shares where each quad lies in one block. The quads of an invocation lie in one block, too, if blocks
/// are so long that neighbouring invocations still fill whole memory sectors.
Shares shares_of_whole(const BuildContext& context, const std::vector<BlockAxis>& axes, std::int64_t quads,
                       std::int64_t workgroup) {
  const bool many = quads >= many_quads;
  // Halves to be quantized are fewer bytes for as many steps: pairs of quads, twice, share more of the steps.
  const bool twice = many && context.tensors[0].dtype == DType::F16;
  Shares shares;
  shares.vectors = context.tuned("vectors_per_invocation", twice  ? most_vectors / 2
                                                           : many ? most_vectors
                                                                  : 1);
  shares.iterations = context.tuned("iterations", twice && shares.vectors == most_vectors / 2 ? 2 : 1);
  std::int64_t stride = workgroup;
  std::int64_t block = 0;  // all is one
  if (!axes.empty()) {
    stride = power_of_two_within(workgroup);
    block = axes.size() == 1 ? axes[0].block / 4 : std::gcd(axes[0].block / 4, axes[0].size / 4);
    while (stride > least_neighbours && block % (stride * shares.each()) != 0) stride /= 2;
  }
  shares.stride = context.tuned("stride", stride);
  shares.same_blocks = block % (shares.stride * shares.each()) == 0;
  return shares;
}

/// Whether the quads at one place of `rows` neighbouring rows have the same blocks, lane by lane: per
/// channel, say, where the channels lie along the fastest axis.
bool rows_repeat(const std::vector<BlockAxis>& axes, std::int64_t quads, std::int64_t rows) {
  if (axes.size() != 2 || axes[0].size % 4 != 0 || axes[0].size < 4 * least_neighbours) return false;
  return axes[0].size / 4 * rows <= quads && (axes[1].stride == 0 || axes[1].block % rows == 0);
}

/// The shares where the lanes of a quad have different blocks: an invocation's quads lie above each other in
/// rows that repeat the same blocks.
Shares shares_of_lanes(const BuildContext& context, const std::vector<BlockAxis>& axes, std::int64_t quads,
                       std::int64_t workgroup) {
  const bool many = quads >= many_quads && rows_repeat(axes, quads, most_vectors);
  const bool more =
      quads >= many_quads * most_vectors && rows_repeat(axes, quads, most_vectors * most_vectors);
  Shares shares;
  shares.vectors = context.tuned("vectors_per_invocation", many ? most_vectors : 1);
  shares.iterations = context.tuned("iterations", more ? most_vectors : 1);
  const bool repeats = rows_repeat(axes, quads, shares.each());
  const std::int64_t row = axes[0].size / 4;
  shares.stride = context.tuned("stride", repeats ? row : workgroup);
  shares.same_blocks = repeats && shares.stride == row;
  return shares;
}

void add_shares(Dispatch& dispatch, const Shares& shares) {
  dispatch.constants.push_back({"vectors_per_invocation", static_cast<std::uint32_t>(shares.vectors)});
  dispatch.constants.push_back({"same_blocks", shares.same_blocks || shares.each() == 1 ? 1u : 0u});
  dispatch.constants.push_back({"iterations", static_cast<std::uint32_t>(shares.iterations)});
}

void use_buffers(Dispatch& dispatch, const BuildContext& context, const Affine& affine) {
  const std::vector<BlockAxis> axes = block_axes(affine.grid, context.forms[0].layout);
  const std::int64_t elements = numel(affine.grid.shape);
  dispatch.defines.push_back(texture_define(context.forms[0]));
  dispatch.defines.push_back({"WHOLE_QUADS", flag(elements % 4 == 0)});
  const bool in_one_block = quads_in_one_block(axes);
  const std::int64_t quads = div_up(elements, 4);
  const std::int64_t local = tuned_local_size(context, quads >= many_quads ? quads / most_vectors : quads);
  const Shares shares = in_one_block ? shares_of_whole(context, axes, quads, local)
                                     : shares_of_lanes(context, axes, quads, local);
  dispatch.constants = {{"axis_count", static_cast<std::uint32_t>(axes.size())},
                        {"in_one_block", in_one_block ? 1u : 0u}};
  add_shares(dispatch, shares);
  dispatch.push = buffer_constants(affine, elements, axes, shares.stride);
  dispatch.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  dispatch.workgroups = fold_grid(div_up(quads, shares.each() * shares.stride) * shares.stride,
                                  dispatch.local_size[0], context.device.max_workgroup_count[0]);
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
      {"split_dims", split_dims}, {"in_one_block", in_one_block ? 1u : 0u}, {"packed_dim", packed}};
  add_shares(dispatch, {});  // a texel to each invocation
  dispatch.push = texture_constants(affine, physical);
  set_texture_grid(dispatch, context, physical.extent());
}

/// One of the two directions, quantizing or dequantizing, given the parameters of quantize_affine.
struct Direction {
  std::vector<TensorSpec> (*tensors)(const Affine&);
  std::vector<Expected> (*reference)(const Params&, std::span<const HostTensor>);
  Program (*build)(const BuildContext&);
  const char* data;  ///< names of the input and output that have the tensor's shape
};

std::vector<TensorSpec> around_block_tensors(const Affine& affine, TensorSpec input, TensorSpec output) {
  std::vector<TensorSpec> all = affine_block_tensors(affine);
  all.insert(all.begin(), std::move(input));
  all.push_back(std::move(output));
  return all;
}

/// The fill domain of a tensor of integers.
FillDomain integers_of(const Affine& affine) {
  return {FillRole::Data, static_cast<double>(affine.quant_min), static_cast<double>(affine.quant_max)};
}

std::vector<TensorSpec> quantizing_tensors(const Affine& affine) {
  // The fill `saturate` draws scales near 2^-8 .. 2^-6, so that half of the values lie beyond the range's
  // ends.
  const double saturating = 0x1p-6 * (affine.quant_max - affine.quant_min);
  const FillDomain reals{FillRole::Data, 0, saturating};
  return around_block_tensors(
      affine, affine_data(affine, "x", TensorSpec::Role::Input, affine.real, reals),
      affine_data(affine, "q", TensorSpec::Role::Output, affine.quantized, integers_of(affine)));
}

Program quantize(const BuildContext& context) {
  return {.dispatches = {affine_dispatch(context, "quantize", "quantize_affine.comp")}};
}

std::vector<TensorSpec> dequantizing_tensors(const Affine& affine) {
  TensorSpec y = affine_data(affine, "y", TensorSpec::Role::Output, affine.real, {});
  if (affine.real == DType::F16) y.output_class = OutputClass::Bounded;
  return around_block_tensors(
      affine, affine_data(affine, "q", TensorSpec::Role::Input, affine.quantized, integers_of(affine)),
      std::move(y));
}

Program dequantize(const BuildContext& context) {
  Dispatch dispatch = affine_dispatch(context, "dequantize", "dequantize_affine.comp");
  const DType quantized = context.tensors[0].dtype;
  if (!is_texture(context.forms[0]) && quantized != DType::I32) {
    dispatch.constants.push_back({"bytes_are_signed", quantized == DType::I8 ? 1u : 0u});
  }
  return {.dispatches = {std::move(dispatch)}};
}

std::vector<ParamSpec> params_of(std::optional<Granularity> granularity) {
  std::vector<ParamSpec> params = affine_params();
  if (!granularity) return params;
  std::erase_if(params, [](const ParamSpec& param) {
    return param.name == "block_size" || param.name == "zero_point_domain";
  });
  if (granularity == Granularity::PerChannel) {
    params.insert(params.begin() + 1,
                  integer("axis").says("dim of the channels, -rank to rank - 1, a negative one counted from "
                                       "the end; scale and zero_point have size 1 along the other dims"));
  }
  return params;
}

/// The parameters of quantize_affine for the same case.
std::function<Params(const Params&)> to_affine(std::optional<Granularity> granularity) {
  if (!granularity) return [](const Params& params) { return params; };
  return [which = *granularity](const Params& named) { return references::affine_params_of(which, named); };
}

Op declared(AffineOp op, const Direction& direction) {
  const auto translated = to_affine(op.granularity);
  const auto build = [=](const BuildContext& context) {
    const Params params = translated(context.params);
    return direction.build({params, context.tensors, context.forms, context.device, context.tune});
  };
  return {
      .name = std::move(op.name),
      .summary = std::move(op.summary),
      .params = params_of(op.granularity),
      .tensors =
          [=](const Params& params) { return direction.tensors(references::affine(translated(params))); },
      .reference =
          [=](const Params& params, std::span<const HostTensor> inputs) {
            return direction.reference(translated(params), inputs);
          },
      .work = affine_work,
      .impls = {{.name = "elementwise",
                 .summary = std::string("one invocation per quad of a buffer or per texel; ") +
                            direction.data + " in the same form",
                 .tunables = affine_tunables(),
                 .build = build,
                 .invalid_reason = affine_invalid_reason}},
  };
}

}  // namespace

std::vector<Tunable> affine_tunables() {
  std::vector<Tunable> tunables = local_extent_tunables();
  tunables.insert(tunables.begin(), local_size_tunable());
  tunables.push_back(
      {.name = "vectors_per_invocation",
       .fallback = 0,
       .min = 1,
       .max = most_vectors,
       .doc = "buffers: quads that an invocation reads at once; by default chosen from the tensor's size"});
  tunables.push_back({.name = "stride",
                      .fallback = 0,
                      .min = 1,
                      .max = 1 << 20,
                      .doc = "buffers: distance between the quads of an invocation; by default chosen so "
                             "that they share blocks"});
  tunables.push_back({.name = "iterations",
                      .fallback = 0,
                      .min = 1,
                      .max = 64,
                      .doc = "buffers: how often an invocation reads `vectors_per_invocation` quads; by "
                             "default more than once where rows share blocks but lanes do not"});
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
          .says("smallest integer; by default the smallest that `quantized` holds"),
      integer("quant_max")
          .derived([](const Params& earlier) { return range_of(earlier).max; })
          .says("largest integer; by default the largest that `quantized` holds"),
      choice("zero_point_domain", {"int", "none", "float"})
          .by_default(std::string("int"))
          .says("int: one i32 per block; none: real = scale * q; float: one f32 per block, the real value of "
                "the range's middle"),
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
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i)
    dispatch.bindings.emplace_back(Resource::tensor(i));
  if (context.forms[0].storage == Storage::Buffer) {
    use_buffers(dispatch, context, affine);
  } else {
    use_textures(dispatch, context, affine);
  }
  return dispatch;
}

std::optional<std::string> affine_invalid_reason(const ImplPoint& point) {
  if (auto reason = unequal_forms(point, 0, point.tensors.size() - 1)) return reason;
  const std::int64_t elements = numel(point.params.ints("shape"));
  if (elements >= std::int64_t{1} << 31) {
    return std::to_string(elements) + " elements exceed the 2^31 - 1 that this kernel can count";
  }
  return std::nullopt;
}

Op quantizing_op(AffineOp op) {
  return declared(std::move(op), {quantizing_tensors, references::quantize_affine, quantize, "x and q"});
}

Op dequantizing_op(AffineOp op) {
  return declared(std::move(op),
                  {dequantizing_tensors, references::dequantize_affine, dequantize, "q and y"});
}

}  // namespace assay::ops
