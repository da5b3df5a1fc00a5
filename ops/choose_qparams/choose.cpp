#include "ops/choose_qparams/choose.h"

#include "ops/affine/affine.h"
#include "ops/common/block_axes.h"
#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace assay::ops {
namespace {

using references::ChooseQParams;
using references::QParamsRule;

constexpr std::int64_t quad = 4;
constexpr std::int64_t columns_side_by_side = 32;  // 512 bytes: what neighbouring boxes should read together
constexpr std::int64_t vectors_of_small_boxes =
    128;  // up to this many, several per invocation save exchanges
constexpr std::int64_t most_splits = 1024;
constexpr std::int64_t full_device = 1024;     // workgroups
constexpr std::int64_t least_steps_apart = 8;  // per invocation, where workgroups share a box

/// The axes as blocks divide them, fastest first.
std::array<BlockAxis, 4> cut_axes(const references::BlockGrid& grid, const Physical& physical) {
  std::array<BlockAxis, 4> cut;
  if (is_texture(physical.form())) {
    cut = axes_by_dim(grid);
    std::reverse(cut.begin(), cut.end());
    return cut;
  }
  const std::vector<BlockAxis> merged = block_axes(grid, physical.form().layout);
  if (merged.empty()) cut[0] = {numel(grid.shape), numel(grid.shape), 0};
  std::copy(merged.begin(), merged.end(), cut.begin());
  return cut;
}

/// Whether vectors along the packed axis begin at multiples of four of its elements.
bool rows_are_aligned(const std::array<BlockAxis, 4>& cut, const Physical& physical) {
  if (is_texture(physical.form()) || cut[0].size % quad == 0) return true;
  return cut[1].size * cut[2].size * cut[3].size == 1;
}

/// The most vectors that a box touches along the packed axis.
std::int64_t packed_vectors(const BoxAxis& axis, bool aligned) {
  if (aligned && (axis.block % quad == 0 || axis.count == 1)) return div_up(axis.block, quad);
  return (axis.block + 2 * (quad - 1)) / quad;
}

/// The tiling for boxes of one row, whose vectors are all loaded at once.
WorkgroupTiling tiling_of_rows(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each) {
  const std::int64_t across = boxes.axes[0].vectors;
  const std::int64_t wanted = across <= vectors_of_small_boxes ? std::min(across, small_each) : 1;
  WorkgroupTiling tiling;
  tiling.columns = std::min(power_of_two_from(div_up(across, wanted)), invocations);
  tiling.each = div_up(across, tiling.columns);
  tiling.boxes = std::min(invocations / tiling.columns, power_of_two_from(boxes.count()));
  return tiling;
}

constexpr std::int64_t usual_workgroup = 128;
constexpr std::int64_t most_each = 8;           // MOST_EACH of shaders/choose_qparams/choose_qparams.comp
constexpr std::int64_t vectors_at_once = 4;     // VECTORS_AT_ONCE of the same
constexpr std::int64_t workgroup_of_few = 256;  // invocations, where boxes are split
constexpr std::int64_t workgroup_of_alone =
    512;                                 // invocations, where one workgroup reads each of a few boxes
constexpr std::int64_t few_boxes = 128;  // fewer than the processors of large devices
constexpr std::int64_t vectors_of_one_workgroup = 1 << 16;  // larger boxes are split
constexpr std::int64_t operations_of_element = 2;           // min, max
constexpr std::int64_t few_to_wait_for = 4;                 // invocations, on a CPU device
constexpr double smallest_eps = 1e-30;  // values that devices may flush to zero stay far below it
// One invocation reads a vector in about half a microsecond, and this many in less than 100 ms.
constexpr std::int64_t most_serial_vectors = 1 << 17;

std::uint32_t log2_of(std::int64_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(power)));
}

/// The workgroup that the case asks for, or the usual one: the largest power of two within it that the device
/// allows.
std::int64_t workgroup_of(const BuildContext& context, const Boxes& boxes) {
  std::int64_t fallback = usual_workgroup;
  if (boxes.count() <= few_boxes) {
    fallback = boxes.vectors() <= vectors_of_one_workgroup ? workgroup_of_alone : workgroup_of_few;
  }
  const std::int64_t asked = context.tuned("local_size", fallback);
  return power_of_two_within(std::min(asked, most_invocations(context.device)));
}

/// The vectors per invocation where boxes are small. More of them save exchanges, and parameters that a few
/// invocations compute while others wait; fewer leave enough neighbouring invocations for their accesses to
/// fill 32 to 64 bytes. On a CPU device no accesses are combined.
std::int64_t small_each(const BuildContext& context, const Boxes& boxes) {
  const DType real = context.tensors[0].dtype;
  const std::int64_t neighbours = context.device.is_planned_as_cpu() ? 1 : real == DType::F16 ? 2 : 4;
  const std::int64_t most = real == DType::F16 ? most_each : most_each / 2;
  return std::clamp<std::int64_t>(boxes.axes[0].vectors / neighbours, 2, most);
}

WorkgroupTiling tuned_tiling(const BuildContext& context, const Boxes& boxes) {
  // More texels at once were slower (shaders/NOTES.md).
  const std::int64_t most = is_texture(context.forms[0]) ? most_each / 2 : most_each;
  const std::int64_t quads = context.tuned("quads", small_each(context, boxes));
  WorkgroupTiling tiling = tiling_of(boxes, workgroup_of(context, boxes), std::min(quads, most), most);
  if (tiling.each == 0) {
    tiling.splits = power_of_two_within(context.tuned("splits", tiling.splits));
  }
  return tiling;
}

void add_limits(PushConstants& push, const references::QParamsLimits& limits) {
  push.add(static_cast<float>(limits.quant_min)).add(static_cast<float>(limits.quant_max)).add(limits.eps);
}

PushConstants box_constants(const ChooseQParams& op, const Boxes& boxes) {
  PushConstants push;
  push.add(boxes.count());
  for (const BoxAxis& axis : boxes.axes) push.add(axis.size).add(axis.block).add(axis.stride);
  for (std::size_t i = 0; i < 3; ++i) push.add(boxes.axes[i].count);
  for (std::size_t i = 0; i < 3; ++i) add(push, divider(boxes.axes[i].count));
  for (std::size_t i = 0; i < 3; ++i) push.add(boxes.axes[i].vectors);
  for (std::size_t i = 1; i < 3; ++i) add(push, divider(boxes.axes[i].vectors));
  add_limits(push, op.limits);
  return push;
}

Dispatch box_dispatch(const BuildContext& context, const ChooseQParams& op, const Boxes& boxes,
                      const WorkgroupTiling& tiling) {
  const Physical x = context.physical(0);
  Dispatch dispatch;
  dispatch.label = "choose_qparams";
  dispatch.shader = "choose_qparams.comp";
  dispatch.defines = {
      texture_define(x.form()),
      {"REAL_F16", flag(x.dtype() == DType::F16)},
      {"WHOLE_QUADS", flag(x.elements() % 4 == 0)},
      {"SPLIT", flag(tiling.splits > 1)},
      {"LANES_APART", flag(boxes.lanes_apart)},
      {"RULE", tiling.splits > 1 ? rule_define(QParamsRule::Asymmetric) : rule_define(op.rule)}};
  dispatch.constants = {{"packed_axis", static_cast<std::uint32_t>(boxes.packed)},
                        {"column_bits", log2_of(tiling.columns)},
                        {"box_bits", log2_of(tiling.boxes)},
                        {"split_bits", log2_of(tiling.splits)},
                        {"whole", boxes.whole ? 1u : 0u},
                        {"lane_block", static_cast<std::uint32_t>(boxes.lane_block)},
                        {"row_axes", static_cast<std::uint32_t>(boxes.row_axes())},
                        {"each", static_cast<std::uint32_t>(tiling.each)}};
  dispatch.push = box_constants(op, boxes);
  dispatch.local_size = {static_cast<std::uint32_t>(tiling.invocations()), 1, 1};
  dispatch.workgroups = fold_grid(div_up(boxes.count(), tiling.boxes) * tiling.splits, 1,
                                  context.device.max_workgroup_count[0]);
  dispatch.shared_bytes = static_cast<std::uint32_t>(tiling.invocations() * (boxes.lanes_apart ? 32 : 8));
  dispatch.bindings = {Resource::tensor(0)};
  return dispatch;
}

/// The second pass, over the ranges that `splits` workgroups found of each block.
Dispatch join_dispatch(const BuildContext& context, const ChooseQParams& op, std::int64_t splits) {
  const std::int64_t blocks = numel(op.grid.counts);
  const auto local =
      static_cast<std::uint32_t>(std::min({splits, usual_workgroup, most_invocations(context.device)}));
  Dispatch dispatch;
  dispatch.label = "join";
  dispatch.shader = "choose_qparams_join.comp";
  dispatch.defines = {{"RULE", rule_define(op.rule)}};
  dispatch.push.add(blocks).add(splits);
  add_limits(dispatch.push, op.limits);
  dispatch.local_size = {local, 1, 1};
  use_subgroups(dispatch, context.device);
  dispatch.workgroups = fold_grid(blocks, 1, context.device.max_workgroup_count[0]);
  dispatch.shared_bytes = local * 8;
  return dispatch;
}

Program serial(const BuildContext& context, const ChooseQParams& op) {
  const Boxes boxes = boxes_of(op.grid, context.physical(0), false);
  const std::int64_t local = power_of_two_within(tuned_local_size(context, boxes.count()));
  Dispatch dispatch = box_dispatch(context, op, boxes, {.boxes = local});
  dispatch.defines.push_back({"SUBGROUPS", "0"});
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  return {.dispatches = {std::move(dispatch)}};
}

std::optional<std::string> serial_invalid_reason(const ChooseQParams& op, std::span<const TensorSpec> tensors,
                                                 std::span<const Form> forms) {
  if (auto reason = too_large_to_choose(tensors, forms)) return reason;
  const Physical x{forms[0], tensors[0].dtype, tensors[0].shape};
  const std::int64_t vectors = boxes_of(op.grid, x, false).vectors();
  if (vectors <= most_serial_vectors) return std::nullopt;
  return "one invocation would read the " + std::to_string(vectors) +
         " quads of a block, which is more than " + std::to_string(most_serial_vectors) +
         ": a submission could take more than 100 ms";
}

/// Why the outputs are constant whatever x is, or nothing.
std::string one_value(const ChooseQParams& op) {
  return numel(op.grid.counts) == 1 ? "there is only one block, so there is one value" : "";
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return too_large_to_choose(point.tensors, point.forms);
}

Impl workgroup_impl(const ChooseOf& choose) {
  return {
      .name = "workgroup",
      .summary =
          "reduction by subgroups and shared memory: several small blocks per workgroup, several workgroups "
          "per large block",
      .tunables = choose_tunables(),
      .build =
          [choose](const BuildContext& context) { return choose_program(context, choose(context.params)); },
      .invalid_reason = invalid_reason,
      .unsupported_reason =
          [choose](const BuildContext& context) {
            return choose_unsupported_reason(context, choose(context.params));
          }};
}

Impl serial_impl(const ChooseOf& choose) {
  return {.name = "serial",
          .summary = "one invocation per block",
          .tunables = {local_size_tunable()},
          .build = [choose](const BuildContext& context) { return serial(context, choose(context.params)); },
          .invalid_reason =
              [choose](const ImplPoint& point) {
                return serial_invalid_reason(choose(point.params), point.tensors, point.forms);
              }};
}

/// On GPUs no shape has been found for which `serial` is faster: `workgroup` also reads small boxes by one
/// invocation, with all loads in flight at once. On a CPU, invocations that wait for each other cost more
/// than they save (shaders/NOTES.md).
Impl auto_impl(const ChooseOf& choose) {
  return {
      .name = "auto",
      .summary =
          "workgroup; on a CPU device serial, where many invocations of a block would wait for each other",
      .choose = [choose](const BuildContext& context) -> std::vector<std::string> {
        const ChooseQParams op = choose(context.params);
        const WorkgroupTiling tiling = tuned_tiling(context, boxes_of(op.grid, context.physical(0), true));
        const bool waits = tiling.columns * tiling.rows > few_to_wait_for;
        const auto too_long = serial_invalid_reason(op, context.tensors, context.forms);
        if (context.device.is_planned_as_cpu() && waits && !too_long) return {"serial", "workgroup"};
        return {"workgroup"};
      },
      .invalid_reason = invalid_reason};
}

std::function<std::vector<TensorSpec>(const Params&)> tensors_of(const ChooseOf& choose) {
  return [choose](const Params& params) {
    const ChooseQParams op = choose(params);
    std::vector<TensorSpec> all{choose_input(op)};
    for (TensorSpec& output : choose_outputs(op)) all.push_back(std::move(output));
    return all;
  };
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations_of_element * numel(params.ints("shape"));
  return work;
}

}  // namespace

std::int64_t Boxes::count() const {
  std::int64_t product = 1;
  for (const BoxAxis& axis : axes) product *= axis.count;
  return product;
}

std::int64_t Boxes::rows() const {
  return axes[1].vectors * axes[2].vectors * axes[3].vectors;
}

std::int64_t Boxes::vectors() const {
  return axes[0].vectors * rows();
}

Boxes boxes_of(const references::BlockGrid& grid, const Physical& physical, bool may_join) {
  const std::array<BlockAxis, 4> cut = cut_axes(grid, physical);
  const bool aligned = rows_are_aligned(cut, physical);
  Boxes boxes;
  boxes.packed =
      is_texture(physical.form()) ? static_cast<std::size_t>(packed_axis(physical.form().layout)) : 0;
  const BlockAxis& packed = cut[boxes.packed];
  boxes.lanes_apart = may_join && aligned && packed.block <= 2 && packed.size > packed.block;
  if (boxes.lanes_apart) boxes.lane_block = packed.block;
  boxes.whole = aligned;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    BoxAxis& axis = boxes.axes[i];
    axis = {cut[i].size, cut[i].block, cut[i].stride, 0, cut[i].block};
    if (i == boxes.packed && boxes.lanes_apart) {
      axis.block = quad;
      axis.stride *= quad / boxes.lane_block;
    }
    axis.count = div_up(axis.size, axis.block);
    if (i == boxes.packed) axis.vectors = packed_vectors(axis, aligned);
    boxes.whole = boxes.whole && axis.size % axis.block == 0 && (i != boxes.packed || axis.block % quad == 0);
  }
  return boxes;
}

std::int64_t Boxes::row_axes() const {
  for (std::int64_t axis = 3; axis > 0; --axis) {
    if (axes[static_cast<std::size_t>(axis)].vectors > 1) return axis;
  }
  return 0;
}

WorkgroupTiling tiling_of(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each,
                          std::int64_t most) {
  const std::int64_t across = boxes.axes[0].vectors;
  const std::int64_t rows = boxes.rows();
  if (rows == 1 && across <= invocations * most) return tiling_of_rows(boxes, invocations, small_each);
  WorkgroupTiling tiling;
  tiling.columns = std::min(power_of_two_from(across), invocations);
  if (rows > 1) {
    const std::int64_t neighbours =
        std::min({div_up(columns_side_by_side, tiling.columns), power_of_two_from(boxes.axes[0].count),
                  invocations / tiling.columns});
    tiling.rows = std::min(power_of_two_from(rows), invocations / (tiling.columns * neighbours));
  }
  tiling.boxes = std::min(invocations / (tiling.columns * tiling.rows), power_of_two_from(boxes.count()));

  const std::int64_t groups = div_up(boxes.count(), tiling.boxes);
  const std::int64_t steps = div_up(across, tiling.columns) * div_up(rows, tiling.rows);
  while (groups * tiling.splits < full_device && steps / (tiling.splits * 2) >= least_steps_apart &&
         tiling.splits < most_splits) {
    tiling.splits *= 2;
  }
  return tiling;
}

std::string rule_define(QParamsRule rule) {
  switch (rule) {
    case QParamsRule::Asymmetric:
      return "RULE_ASYMMETRIC";
    case QParamsRule::Symmetric:
      return "RULE_SYMMETRIC";
    case QParamsRule::SymmetricNoClippingErr:
      return "RULE_NO_CLIPPING";
    case QParamsRule::PerToken:
      return "RULE_PER_TOKEN";
    case QParamsRule::PerRow:
      return "RULE_PER_ROW";
  }
  return "";
}

ParamSpec real_param() {
  return choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of the real values");
}

std::vector<ParamSpec> with_quant_params(std::vector<ParamSpec> before, std::vector<ParamSpec> after) {
  const auto is_of_range = [](const ParamSpec& param) {
    return param.name == "quantized" || param.name == "quant_min" || param.name == "quant_max";
  };
  std::ranges::copy_if(affine_params(), std::back_inserter(before), is_of_range);
  std::ranges::move(after, std::back_inserter(before));
  return before;
}

ParamSpec mapping_param() {
  return choice("mapping", {"asymmetric", "symmetric", "symmetric_no_clipping_err"})
      .by_default(std::string("asymmetric"))
      .says("how scale and zero point are computed from the range of a block");
}

ParamSpec eps_param() {
  ParamSpec spec = number("eps");
  spec.min_number = smallest_eps;
  return std::move(spec).by_default(0x1p-23).says("the least scale");
}

TensorSpec choose_input(const ChooseQParams& op) {
  return {.name = "x", .dtype = op.real, .shape = op.grid.shape, .forms = float_forms()};
}

std::vector<TensorSpec> choose_outputs(const ChooseQParams& op) {
  const bool asymmetric = op.rule != QParamsRule::Symmetric && op.rule != QParamsRule::SymmetricNoClippingErr;
  TensorSpec scale{.name = "scale",
                   .role = TensorSpec::Role::Output,
                   .dtype = DType::F32,
                   .shape = op.grid.counts,
                   .forms = {{Storage::Buffer, Layout::WP}},
                   .constant_because = one_value(op)};
  TensorSpec zero_point = scale;
  zero_point.name = "zero_point";
  zero_point.dtype = DType::I32;
  if (!asymmetric)
    zero_point.constant_because = "the zero point of symmetric mappings is the middle of the range";
  return {std::move(scale), std::move(zero_point)};
}

std::vector<Tunable> choose_tunables() {
  std::vector<Tunable> tunables{local_size_tunable()};
  tunables.push_back({.name = "splits",
                      .fallback = 0,
                      .min = 1,
                      .max = 1024,
                      .doc = "workgroups that share a block, rounded down to a power of two; by default as "
                             "many as fill a large device"});
  tunables.push_back({.name = "quads",
                      .fallback = 0,
                      .min = 1,
                      .max = most_each,
                      .doc = "quads per invocation, in blocks of one row of up to 128 quads; at most 4 of "
                             "texels; by default chosen from the block"});
  return tunables;
}

std::optional<std::string> too_large_to_choose(std::span<const TensorSpec> tensors,
                                               std::span<const Form> forms) {
  return too_large({forms[0], tensors[0].dtype, tensors[0].shape});
}

std::optional<std::string> choose_unsupported_reason(const BuildContext& context, const ChooseQParams& op) {
  const Boxes boxes = boxes_of(op.grid, context.physical(0), true);
  const WorkgroupTiling tiling = tuned_tiling(context, boxes);
  if (tiling.each > 0) return std::nullopt;
  const std::int64_t steps =
      div_up(boxes.axes[0].vectors, tiling.columns) * div_up(boxes.rows(), tiling.rows);
  const std::int64_t share = div_up(steps, tiling.splits);
  return loops_unsupported_reason(turns(div_up(share, vectors_at_once)), context.device);
}

Program choose_program(const BuildContext& context, const ChooseQParams& op) {
  const Resource scale = Resource::tensor(1);
  const Resource zero_point = Resource::tensor(2);
  const Boxes boxes = boxes_of(op.grid, context.physical(0), true);
  const WorkgroupTiling tiling = tuned_tiling(context, boxes);
  Dispatch first = box_dispatch(context, op, boxes, tiling);
  use_subgroups(first, context.device);
  if (tiling.splits == 1) {
    first.bindings.insert(first.bindings.end(), {scale, zero_point});
    return {.dispatches = {std::move(first)}};
  }
  const Resource ranges = Resource::scratch(0);
  first.bindings.emplace_back(ranges);
  Dispatch second = join_dispatch(context, op, tiling.splits);
  second.bindings = {ranges, scale, zero_point};
  return {.scratch = {{"ranges", DType::F32, {numel(op.grid.counts), tiling.splits, 2}, {}}},
          .dispatches = {std::move(first), std::move(second)}};
}

Op choose_op(std::string name, std::string summary, std::vector<ParamSpec> params, const ChooseOf& choose) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .params = std::move(params),
          .tensors = tensors_of(choose),
          .reference =
              [choose](const Params& point, std::span<const HostTensor> inputs) {
                return references::choose_qparams(choose(point), inputs);
              },
          .work = work,
          .impls = {workgroup_impl(choose), serial_impl(choose), auto_impl(choose)}};
}

}  // namespace assay::ops
