#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"
#include "ops/transformer/rows.h"
#include "ops/transformer/sdpa.h"
#include "ops/transformer/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace assay::ops {
namespace {

using references::Sdpa;
using references::sdpa_params;

constexpr std::int64_t quad = 4;
constexpr std::int64_t bytes_of_quad = 16;
constexpr std::int64_t bytes_of_score = 8;  ///< with its total
constexpr std::int64_t most_rows = 8, most_keys = 4;
// A workgroup of a split has at least this many keys; this many workgroups per shader core keep memory busy.
constexpr std::int64_t least_keys_of_split = 64, workgroups_of_core = 4;
constexpr std::int64_t invocations_that_join = 256;

Form buffer() {
  return {Storage::Buffer, Layout::WP};
}

std::int64_t quads_of(const Sdpa& op) {
  return op.width / quad;
}
std::int64_t queries_of(const Sdpa& op) {
  return op.tokens * op.heads_of_group();
}
std::int64_t all_queries(const Sdpa& op) {
  return op.batch * op.heads * op.tokens;
}

/// Binds k or v (1 or 2), and its scales.
void bind_rows(Dispatch& dispatch, const Sdpa& op, std::uint32_t tensor) {
  dispatch.bindings.emplace_back(Resource::tensor(tensor));
  if (op.q8) dispatch.bindings.emplace_back(Resource::tensor(tensor + 2));
}

// --- three dispatches -----------------------------------------------------------------------------------

Dispatch scores_of(const BuildContext& context, const Sdpa& op, Resource scores) {
  Dispatch dispatch{.label = "scores", .shader = "sdpa_scores.comp"};
  add_attention(dispatch, op);
  const std::int64_t count = all_queries(op) * op.valid();
  dispatch.push.add(count);
  dispatch.bindings = {Resource::tensor(0)};
  bind_rows(dispatch, op, 1);
  bind_mask(dispatch, context, op);
  bind_at(dispatch, "SCORES_AT", scores);
  set_grid(dispatch, context, count);
  return dispatch;
}

Dispatch values_of(const BuildContext& context, const Sdpa& op, Resource weights) {
  Dispatch dispatch{.label = "values", .shader = "sdpa_values.comp"};
  add_attention(dispatch, op);
  const std::int64_t count = all_queries(op) * quads_of(op);
  dispatch.push.add(count);
  dispatch.bindings = {weights};
  bind_rows(dispatch, op, 2);
  bind_mask(dispatch, context, op);
  bind_at(dispatch, "Y_AT", Resource::tensor(index_of_y(context)));
  set_grid(dispatch, context, count);
  return dispatch;
}

/// The tensors of a softmax of the scores.
std::vector<TensorSpec> softmax_tensors(const Sdpa& op) {
  const TensorSpec rows = row_tensor("scores", DType::F32, {all_queries(op), op.valid()});
  return {rows, rows};
}

template <class Use>
auto with_softmax(const BuildContext& context, const Sdpa& op, const Use& use) {
  const std::vector<TensorSpec> tensors = softmax_tensors(op);
  const std::vector<Form> forms(tensors.size(), buffer());
  return use(BuildContext(context.params, tensors, forms, context.device, context.tune));
}

Program unfused(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  Program program;
  const Shape shape{all_queries(op), op.valid()};
  const Resource scores = add_scratch(program, {"scores", DType::F32, shape, buffer()});
  const Resource weights = add_scratch(program, {"weights", DType::F32, shape, buffer()});
  program.dispatches.push_back(scores_of(context, op, scores));
  const Program softmax = with_softmax(context, op, softmax_program);
  append(program, softmax, std::array{scores, weights});
  program.dispatches.push_back(values_of(context, op, weights));
  return program;
}

/// Of a score: the additions of its products to four sums and of these, the products by the scales, and the
/// mask.
std::int64_t roundings_of_score(const Sdpa& op) {
  return quads_of(op) + 2 + (op.q8 ? 3 : 2) + (op.masked ? 1 : 0);
}

UnitError unfused_unit_error(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const double of_softmax = with_softmax(context, op, softmax_sum_error);
  return {grown_error(op, gamma_of(roundings_of_score(op)) + softmax_term_error),
          of_softmax + gamma_of(op.valid() + 2)};
}

std::optional<std::string> unfused_invalid_reason(const ImplPoint& point) {
  if (auto reason = any_texture(point)) return reason;
  if (auto reason = sdpa_invalid_reason(point)) return reason;
  const Sdpa op = sdpa_params(point.params);
  return excluded([&] {
    const std::vector<TensorSpec> tensors = softmax_tensors(op);
    const std::vector<Form> forms(tensors.size(), buffer());
    return rows_invalid_reason({point.params, tensors, forms, point.tune});
  });
}

/// An invocation of sdpa_values.comp goes over the keys of a query.
std::optional<std::string> unfused_unsupported_reason(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  if (auto reason = loops_unsupported_reason(turns(op.valid()), context.device)) return reason;
  return with_softmax(context, op, rows_unsupported_reason);
}

// --- one pass -------------------------------------------------------------------------------------------

/// How the workgroups of sdpa.comp share the work.
struct Sharing {
  std::int64_t rows = 1;        ///< queries of a workgroup
  std::int64_t keys = 1;        ///< keys that a group of invocations reads at once
  std::int64_t unit_quads = 1;  ///< quads that an invocation reads at once
  std::int64_t units = 1;       ///< of an invocation
  std::int64_t columns = 1;     ///< invocations that share a key
  std::int64_t local = 1;
  std::int64_t blocks = 1;  ///< of `rows` queries of a head of the cache
  std::int64_t splits = 1;
  std::int64_t split_keys = 1;

  std::int64_t groups() const { return local / columns; }
  /// Keys that a group sees, one batch after another.
  std::int64_t batches() const { return div_up(split_keys, groups() * keys); }
  /// Of the sums, and of three arrays of floats, each in whole units of 16 bytes.
  std::int64_t shared_bytes() const {
    return local * units * unit_quads * bytes_of_quad + 3 * div_up(local, quad) * bytes_of_quad;
  }
};

std::int64_t rows_of(const ImplPoint& point, const Sdpa& op) {
  return point.tuned("rows", std::min(power_of_two_from(queries_of(op)), most_rows / 2));
}

/// Invocations of a subgroup share a key by shuffling; others by shared memory, however many they are.
std::int64_t most_columns(const DeviceInfo& device) {
  constexpr std::int64_t without_subgroups = 32;
  if (!device.has(Feature::SubgroupShuffle)) return without_subgroups;
  return power_of_two_within(std::max<std::int64_t>(1, device.subgroup_size));
}

Sharing sharing_of(const BuildContext& context, bool splits) {
  const Sdpa op = sdpa_params(context.params);
  Sharing sharing{.rows = rows_of(context, op)};
  // A CPU reads from its caches, and compiles what is repeated for each key for seconds.
  sharing.keys = context.tuned("keys", context.device.is_planned_as_cpu() ? 1 : most_keys);
  const bool is_f32 = op.dtype == DType::F32 && !op.q8;
  const bool has_words = !is_f32 && !is_texture(context.forms[1]);
  sharing.unit_quads = has_words && quads_of(op) % 2 == 0 ? 2 : 1;
  const std::int64_t units = quads_of(op) / sharing.unit_quads;
  const std::int64_t most = most_invocations(context.device);
  sharing.columns = std::min({power_of_two_from(units), most_columns(context.device), most});
  sharing.units = div_up(units, sharing.columns);
  sharing.local = local_size_of_rows(context, sharing.columns);
  const bool is_tuned = context.tuned("local_size", 0) != 0;
  while (!is_tuned && sharing.local > sharing.columns &&
         sharing.shared_bytes() > context.device.max_shared_bytes) {
    sharing.local /= 2;
  }
  sharing.blocks = div_up(queries_of(op), sharing.rows);
  sharing.splits = splits ? context.tuned("splits", splits_by_default(context)) : 1;
  sharing.split_keys = div_up(op.valid(), sharing.splits);
  sharing.splits = div_up(op.valid(), sharing.split_keys);  // none is empty
  return sharing;
}

/// `define` says whether the tensor is a texture, of which `constant` is a slice's height.
void add_texture(Dispatch& dispatch, const BuildContext& context, std::uint32_t tensor, const char* define,
                 const char* constant) {
  const bool has_texels = is_texture(context.forms[tensor]);
  set_define(dispatch, define, has_texels ? 1 : 0);
  if (has_texels) set_constant(dispatch, constant, context.physical(tensor).dims().h);
}

Dispatch pass(const BuildContext& context, const Sdpa& op, const Sharing& sharing) {
  Dispatch dispatch{.label = "sdpa", .shader = "sdpa.comp"};
  add_attention(dispatch, op, log2_of_e);
  const std::int64_t workgroups = op.batch * op.kv_heads * sharing.blocks * sharing.splits;
  dispatch.push.add(sharing.blocks).add(sharing.splits).add(sharing.split_keys).add(workgroups);
  for (const auto& [name, value] : {std::pair{"ROWS", sharing.rows},
                                    {"KEYS", sharing.keys},
                                    {"UNITS", sharing.units},
                                    {"UNIT_QUADS", sharing.unit_quads}}) {
    set_define(dispatch, name, value);
  }
  add_texture(dispatch, context, 0, "Q_TEXTURE", "q_slice_height");
  add_texture(dispatch, context, 1, "CACHE_TEXTURE", "cache_slice_height");
  set_constant(dispatch, "column_bits", std::countr_zero(static_cast<std::uint64_t>(sharing.columns)));
  dispatch.bindings = {binding_of(context, 0), binding_of(context, 1), binding_of(context, 2)};
  if (op.q8) {
    dispatch.bindings.emplace_back(Resource::tensor(3));
    dispatch.bindings.emplace_back(Resource::tensor(4));
  }
  bind_mask(dispatch, context, op);
  dispatch.local_size = {static_cast<std::uint32_t>(sharing.local), 1, 1};
  dispatch.workgroups =
      fold_grid(workgroups * sharing.local, dispatch.local_size[0], context.device.max_workgroup_count[0]);
  dispatch.shared_bytes = static_cast<std::uint32_t>(sharing.shared_bytes());
  use_subgroups(dispatch, context.device);
  return dispatch;
}

Program fused(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  Dispatch dispatch = pass(context, op, sharing_of(context, false));
  set_define(dispatch, "SPLITS", 0);
  bind_at(dispatch, "Y_AT", Resource::tensor(index_of_y(context)));
  return {.dispatches = {std::move(dispatch)}};
}

Program split(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const Sharing sharing = sharing_of(context, true);
  Program program;
  const Resource partial = add_parts(program, op, sharing.splits);
  Dispatch dispatch = pass(context, op, sharing);
  set_define(dispatch, "SPLITS", 1);
  bind_at(dispatch, "Y_AT", partial);
  program.dispatches = {std::move(dispatch), join_parts(context, op, sharing.splits, partial)};
  return program;
}

/// Of the scores: their differences and exp(). Of the sums: a factor, one more exp(), for each of both ends;
/// those for batches that raise the largest score are in the magnitude. A weight's error counts twice: in the
/// sum of values and in the total.
UnitError pass_unit_error(const BuildContext& context, bool splits) {
  const Sdpa op = sdpa_params(context.params);
  const Sharing sharing = sharing_of(context, splits);
  const std::int64_t factors = sharing.splits + 3;
  const std::int64_t additions = sharing.keys * sharing.batches() + sharing.groups() + sharing.splits + 2;
  const double of_factors = 4 * static_cast<double>(factors) * float32_ulp;
  const double of_scores = grown_error(op, gamma_of(roundings_of_score(op) + 10) + 4 * float32_ulp);
  return {2 * of_scores + 4 * float32_ulp, 2 * (of_factors + gamma_of(additions + 2 * factors))};
}

std::vector<Tunable> tunables(bool splits) {
  Tunable local = local_size_tunable();
  local.doc = "invocations of a workgroup, rounded down to a power of two; by default 128";
  std::vector<Tunable> tunables{
      {.name = "rows",
       .fallback = 0,
       .min = 1,
       .max = most_rows,
       .doc = "queries of a workgroup, which share what it reads of the cache; by "
              "default as many as share a head of it, 4 at most",
       .allowed = {1, 2, 4, 8}},
      {.name = "keys",
       .fallback = 0,
       .min = 1,
       .max = most_keys,
       .doc = "keys that a group of invocations reads at once; by default 4, but 1 on "
              "a CPU",
       .allowed = {1, 2, 4}},
      std::move(local)};
  if (splits) {
    tunables.push_back({.name = "splits",
                        .fallback = 0,
                        .min = 1,
                        .max = most_splits_of_sdpa,
                        .doc = "workgroups that share the keys of a query; by default chosen from the shape "
                               "and the device"});
  }
  return tunables;
}

/// The loop iterations of an invocation of sdpa.comp: for each score the invocations that share a key add
/// theirs, and in the end groups join each row.
std::int64_t turns_of_pass(const Sdpa& op, const Sharing& sharing) {
  const std::int64_t of_score = turns(std::countr_zero(static_cast<std::uint64_t>(sharing.columns)));
  const std::int64_t of_groups = turns(sharing.groups());
  const std::int64_t of_row = 2 * of_groups + turns(div_up(quads_of(op), sharing.local), of_groups);
  return turns(sharing.batches(), sharing.keys * sharing.rows * of_score) + sharing.rows * of_row;
}

std::optional<std::string> unsupported_reason(const BuildContext& context, bool splits) {
  const Sharing sharing = sharing_of(context, splits);
  const std::int64_t turns = turns_of_pass(sdpa_params(context.params), sharing);
  if (auto reason = loops_unsupported_reason(turns, context.device)) return reason;
  const std::int64_t most = context.device.max_shared_bytes;
  if (sharing.shared_bytes() <= most) return std::nullopt;
  return "workgroups of " + std::to_string(sharing.local) + " invocations need " +
         std::to_string(sharing.shared_bytes()) + " bytes of shared memory, maxComputeSharedMemorySize is " +
         std::to_string(most);
}

std::optional<std::string> one_pass_invalid_reason(const ImplPoint& point) {
  if (auto reason = different_forms(point, 0, point.forms.size() - 1)) return reason;
  if (auto reason = different_forms(point, 1, 2)) return reason;
  return sdpa_invalid_reason(point);
}

Impl one_pass(bool splits) {
  Impl impl{.name = splits ? "split" : "fused"};
  impl.ceiling = Ceiling::Fp32;
  impl.tunables = tunables(splits);
  impl.build = splits ? split : fused;
  impl.invalid_reason = one_pass_invalid_reason;
  impl.unsupported_reason = [splits](const BuildContext& context) {
    return unsupported_reason(context, splits);
  };
  impl.unit_error = [splits](const BuildContext& context) { return pass_unit_error(context, splits); };
  return impl;
}

}  // namespace

std::uint32_t index_of_y(const BuildContext& context) {
  return static_cast<std::uint32_t>(context.tensors.size() - 1);
}

void add_attention(Dispatch& dispatch, const Sdpa& op, double factor) {
  dispatch.defines = {
      {"F16", flag(op.dtype == DType::F16)}, {"Q8", flag(op.q8)}, {"MASKED", flag(op.masked)}};
  dispatch.push.add(quads_of(op)).add(op.valid()).add(op.end_of_keys(0)).add(std::int64_t{op.causal ? 1 : 0});
  dispatch.push.add(queries_of(op)).add(op.kv_heads).add(op.heads_of_group());
  for (const auto& [image, token, head] :
       {std::array{op.first_of_q(1, 0, 0), op.first_of_q(0, 1, 0), op.first_of_q(0, 0, 1)},
        {op.first_of_row(1, 0, 0), op.first_of_row(0, 1, 0), op.first_of_row(0, 0, 1)}}) {
    dispatch.push.add(image / op.width).add(token / op.width).add(head / op.width);
  }
  // Never 0, by which scores of -infinity would be multiplied.
  dispatch.push.add(std::max(static_cast<float>(op.scale * factor), std::numeric_limits<float>::min()));
}

void bind_mask(Dispatch& dispatch, const BuildContext& context, const Sdpa& op) {
  if (op.masked) bind_at(dispatch, "MASK_AT", Resource::tensor(index_of_y(context) - 1));
}

Resource add_parts(Program& program, const Sdpa& op, std::int64_t splits) {
  return add_scratch(program, {"partial", DType::F32, {all_queries(op), splits, op.width + quad}, buffer()});
}

Dispatch join_parts(const BuildContext& context, const Sdpa& op, std::int64_t splits, Resource partial) {
  Dispatch join{.label = "join", .shader = "sdpa_join.comp"};
  add_attention(join, op);
  join.defines = {{"F16", flag(op.dtype == DType::F16)}};
  add_texture(join, context, index_of_y(context), "Q_TEXTURE", "q_slice_height");
  join.push.add(splits).add(all_queries(op));
  const std::int64_t columns = power_of_two_from(quads_of(op));
  set_constant(join, "column_bits", std::countr_zero(static_cast<std::uint64_t>(columns)));
  const std::int64_t local =
      std::max(columns, std::min(invocations_that_join, most_invocations(context.device)));
  join.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  join.workgroups =
      fold_grid(all_queries(op) * local, join.local_size[0], context.device.max_workgroup_count[0]);
  join.shared_bytes = static_cast<std::uint32_t>(local * (bytes_of_quad + bytes_of_score));
  join.bindings = {partial, Resource::tensor(index_of_y(context))};
  return join;
}

std::int64_t splits_by_default(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const std::int64_t blocks = op.batch * op.kv_heads * div_up(queries_of(op), rows_of(context, op));
  const std::int64_t wanted = workgroups_of_core * context.device.shader_cores_or_assumed() / blocks;
  return std::clamp<std::int64_t>(std::min(wanted, op.valid() / least_keys_of_split), 1, most_splits_of_sdpa);
}

Impl unfused_sdpa() {
  Impl impl{.name = "unfused"};
  impl.summary = "three dispatches: scores, their softmax, and the sums of values";
  impl.ceiling = Ceiling::Fp32;
  impl.tunables = {local_size_tunable()};
  impl.build = unfused;
  impl.invalid_reason = unfused_invalid_reason;
  impl.unsupported_reason = unfused_unsupported_reason;
  impl.unit_error = unfused_unit_error;
  return impl;
}

Impl fused_sdpa() {
  Impl impl = one_pass(false);
  impl.summary = "one dispatch: softmax on the way over the keys";
  return impl;
}

Impl split_sdpa() {
  Impl impl = one_pass(true);
  impl.summary = "as fused, but several workgroups share the keys of a query, and a dispatch joins them";
  return impl;
}

}  // namespace assay::ops
