#include "tests/faults/fault_ops.h"

#include "ops/registry.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace assay::faults {
namespace {

constexpr std::uint32_t local_size = 16;

/// The real op, with impls of ours.
Op real_op(const std::string& name) {
  const Registry registry = ops::registry();
  const Op* op = registry.find(name);
  if (op == nullptr) throw std::logic_error("there is no op " + name);
  Op copy = *op;
  copy.impls.clear();
  return copy;
}

Params with_defaults(const Op& op, Params params) {
  for (const ParamSpec& spec : op.params) {
    if (!params.has(spec.name)) params.set(spec.name, spec.default_for(params).value());
  }
  return params;
}

/// A dispatch of our shader that binds all tensors; the fault is what `fault` names.
Dispatch faulty(const BuildContext& context, const std::string& shader, const std::string& fault) {
  Dispatch dispatch;
  dispatch.label = fault;
  dispatch.shader = shader;
  dispatch.defines = {{"FAULT_" + fault, "1"}};
  dispatch.local_size = {local_size, 1, 1};
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i)
    dispatch.bindings.emplace_back(Resource::tensor(i));
  return dispatch;
}

/// A word per invocation; the last binding is the cache, what it begins with is bound nowhere.
Program update_program(const BuildContext& context, const std::string& fault) {
  const std::int64_t words = numel(context.tensors[0].shape), all = numel(context.tensors[2].shape);
  const std::int64_t batch = context.params.integer("B");
  const std::int64_t position = words / batch / context.params.integer("S");
  Dispatch dispatch = faulty(context, "update_faults.comp", fault);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(2)};
  dispatch.push.add(words).add(words / batch).add(all / batch);
  dispatch.push.add(context.params.integer("start_pos") * position);
  dispatch.workgroups = fold_grid(words, local_size);
  return {.dispatches = {std::move(dispatch)}};
}

using Build = Program (*)(const BuildContext& context, const std::string& fault);

void add_impls(Op& op, Build build, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    op.impls.push_back({.name = name, .build = [build, name](const BuildContext& context) {
                          Program program = build(context, name);
                          program.unchecked_because = seen_when_run;
                          return program;
                        }});
  }
}

Program quantize_program(const BuildContext& context, const std::string& fault) {
  const Dims dims = nchw(context.tensors.front().shape);
  const std::int64_t elements = numel(context.tensors.front().shape);
  Dispatch dispatch = faulty(context, "quantize_faults.comp", fault);
  dispatch.push.add(elements).add(dims.c).add(dims.h * dims.w).add(dims.w);
  dispatch.workgroups = fold_grid(div_up(elements, 4), local_size);
  return {.dispatches = {std::move(dispatch)}};
}

Program dequantize_program(const BuildContext& context, const std::string& fault) {
  const std::int64_t elements = numel(context.tensors.front().shape);
  Dispatch dispatch = faulty(context, "dequantize_faults.comp", fault);
  dispatch.push.add(elements);
  dispatch.workgroups = fold_grid(elements, local_size);
  return {.dispatches = {std::move(dispatch)}};
}

Program pixel_shuffle_program(const BuildContext& context, const std::string& fault) {
  const Dims in = nchw(context.tensors[0].shape);
  const Dims out = nchw(context.tensors[1].shape);
  const QParams& x = context.params.qparams("x");
  const QParams& y = context.params.qparams("y");
  const std::int64_t words = out.n * div_up(out.c, 4) * out.h * out.w;
  Dispatch dispatch = faulty(context, "pixel_shuffle_faults.comp", fault);
  dispatch.constants = {{"factor", static_cast<std::uint32_t>(context.params.integer("upscale_factor"))}};
  dispatch.push.add(words).add(in.h).add(in.w).add(in.c).add(out.c);
  dispatch.push.add(std::int64_t{x.zero_point}).add(x.scale).add(1.0F / y.scale);
  dispatch.push.add(static_cast<float>(y.zero_point)).add(std::int64_t{x == y ? 0 : 1});
  dispatch.workgroups = fold_grid(words, local_size);
  return {.dispatches = {std::move(dispatch)}};
}

/// `kind` says what the kernel is: CLONE, QUANTIZE or DEQUANTIZE.
Program relayout_program(const BuildContext& context, const std::string& fault, const std::string& kind,
                         const QParams& integers) {
  const Dims dims = nchw(context.tensors.front().shape);
  const std::int64_t blocks = div_up(dims.c, 4);
  const std::int64_t words = dims.n * dims.h * blocks * dims.w;
  Dispatch dispatch = faulty(context, "relayout_faults.comp", fault);
  dispatch.defines.push_back({kind, "1"});
  dispatch.push.add(words).add(dims.w).add(dims.h).add(blocks);
  dispatch.push.add(integers.scale).add(std::int64_t{integers.zero_point});
  dispatch.workgroups = fold_grid(words, local_size);
  return {.dispatches = {std::move(dispatch)}};
}

Program clone_program(const BuildContext& context, const std::string& fault) {
  return relayout_program(context, fault, "CLONE", {});
}

Program quantize_tensor_program(const BuildContext& context, const std::string& fault) {
  const QParams& to = context.params.qparams("y");
  return relayout_program(context, fault, "QUANTIZE", {1.0F / to.scale, to.zero_point});
}

Program dequantize_tensor_program(const BuildContext& context, const std::string& fault) {
  return relayout_program(context, fault, "DEQUANTIZE", context.params.qparams("x"));
}

/// `op`, whose float tensors are channels-packed 3D textures.
Op with_textures(Op op) {
  op.tensors = [tensors = op.tensors](const Params& params) {
    std::vector<TensorSpec> specs = tensors(params);
    for (TensorSpec& spec : specs) {
      if (spec.dtype != DType::I8) spec.forms = {{Storage::Texture3D, Layout::CP}};
    }
    return specs;
  };
  return op;
}

Program matmul_program(const BuildContext& context, const std::string& fault) {
  Dispatch dispatch = faulty(context, "matmul_faults.comp", fault);
  dispatch.push.add(context.params.integer("k")).add(context.params.integer("n"));
  dispatch.workgroups = {static_cast<std::uint32_t>(context.params.integer("m")), 1, 1};
  return {.dispatches = {std::move(dispatch)}};
}

/// Right once in fresh memory, wrong when it runs again there.
Program wrong_when_repeated(const BuildContext& context) {
  Program program = matmul_program(context, "wrong_when_repeated");
  program.scratch.push_back({"mark", DType::I32, {1}, {Storage::Buffer, Layout::WP}});
  program.dispatches.front().bindings.emplace_back(Resource::scratch(0));
  Dispatch mark;
  mark.label = "mark";
  mark.shader = "mark_run.comp";
  mark.local_size = {1, 1, 1};
  mark.bindings = {Resource::scratch(0)};
  program.dispatches.push_back(std::move(mark));
  program.unchecked_because = seen_when_run;
  return program;
}

/// Right, and slow: tens of milliseconds on a CPU, hundreds of microseconds on a GPU.
Program slow(const BuildContext& context) {
  constexpr std::uint32_t workgroups = 400;
  Program program = matmul_program(context, "correct");
  Dispatch dispatch;
  dispatch.label = "slow";
  dispatch.shader = "slow.comp";
  dispatch.local_size = {1, 1, 1};
  dispatch.workgroups = {workgroups, 1, 1};
  dispatch.push.add(std::int64_t{50'000});
  dispatch.bindings = {Resource::scratch(0)};
  program.scratch.push_back({"values", DType::I32, {workgroups}, {Storage::Buffer, Layout::WP}});
  program.dispatches.push_back(std::move(dispatch));
  return program;
}

Program oversized_workgroup(const BuildContext& context) {
  Program program = matmul_program(context, "correct");
  program.dispatches.front().local_size = {context.device.max_workgroup_size[0] + 1, 1, 1};
  return program;
}

/// Scratch that each fits a binding, and together more than the device has.
Program oversized_scratch(const BuildContext& context) {
  constexpr std::int64_t piece = 96 << 20;
  Program program = matmul_program(context, "correct");
  const auto pieces = static_cast<std::int64_t>(context.device.device_memory_bytes) / piece + 2;
  for (std::int64_t i = 0; i < pieces; ++i) {
    program.scratch.push_back({"piece", DType::I8, {piece}, {Storage::Buffer, Layout::WP}});
  }
  return program;
}

Program does_not_compile(const BuildContext& context) {
  return {.dispatches = {faulty(context, "does_not_compile.comp", "does_not_compile")}};
}

/// A loop without end, in as many workgroups as there can be: lavapipe leaves any loop after 65535 rounds.
Program endless(const BuildContext& context) {
  Dispatch dispatch = faulty(context, "endless.comp", "endless");
  dispatch.workgroups = {context.device.max_workgroup_count[0], context.device.max_workgroup_count[1], 1};
  return {.dispatches = {std::move(dispatch)}};
}

TensorSpec matrix(std::string name, std::int64_t rows, std::int64_t columns) {
  return {.name = std::move(name),
          .dtype = DType::I8,
          .shape = {rows, columns},
          .forms = {{Storage::Buffer, Layout::WP}},
          .domain = {FillRole::Data, -128, 127}};
}

std::vector<TensorSpec> matmul_tensors(const Params& params) {
  const std::int64_t m = params.integer("m");
  const std::int64_t k = params.integer("k");
  const std::int64_t n = params.integer("n");
  TensorSpec w = matrix("w", n, k);
  w.constant = true;
  TensorSpec y = matrix("y", m, n);
  y.role = TensorSpec::Role::Output;
  y.dtype = DType::I32;
  y.domain = {};
  return {matrix("x", m, k), w, y};
}

std::vector<Expected> matmul_reference(const Params& params, std::span<const HostTensor> inputs) {
  const auto m = static_cast<std::size_t>(params.integer("m"));
  const auto k = static_cast<std::size_t>(params.integer("k"));
  const auto n = static_cast<std::size_t>(params.integer("n"));
  const auto x = inputs[0].as<std::int8_t>();
  const auto w = inputs[1].as<std::int8_t>();
  Expected expected{.values = HostTensor(DType::I32, {params.integer("m"), params.integer("n")})};
  const auto y = expected.values.as<std::int32_t>();
  for (std::size_t i = 0; i < m * n; ++i) {
    for (std::size_t d = 0; d < k; ++d) y[i] += x[i / n * k + d] * w[i % n * k + d];
  }
  return {expected};
}

constexpr Form form_of(Storage storage) {
  return {storage, Layout::WP};
}

std::vector<TensorSpec> flip_tensors(const Params& params, Storage storage) {
  TensorSpec x{.name = "x",
               .dtype = DType::I8,
               .shape = params.ints("shape"),
               .forms = {form_of(storage)},
               .domain = {FillRole::Data, -128, 127}};
  TensorSpec y = x;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  return {x, y};
}

std::vector<Expected> flip_reference(const Params&, std::span<const HostTensor> inputs) {
  Expected expected{.values = inputs[0]};
  for (std::int8_t& value : expected.values.as<std::int8_t>()) value = static_cast<std::int8_t>(~value);
  return {expected};
}

Program flip_program(const BuildContext& context, const std::string& fault) {
  const Physical x = context.physical(0);
  const bool is_3d = x.form().storage == Storage::Texture3D;
  Dispatch dispatch{.label = fault,
                    .shader = "texture_faults.comp",
                    .defines = {{"FAULT_" + fault, "1"},
                                {"IMAGE", is_3d ? "iimage3D" : "iimage2D"},
                                {"DIMS", is_3d ? "3" : "2"}},
                    .local_size = {4, 2, 2},
                    .bindings = {Resource::tensor(0), Resource::tensor(1)}};
  dispatch.push.add(x.dims().w);
  for (std::size_t i = 0; i < 3; ++i) {
    dispatch.workgroups[i] = (x.extent()[i] + dispatch.local_size[i] - 1) / dispatch.local_size[i];
  }
  return {.dispatches = {std::move(dispatch)}, .unchecked_because = seen_when_run};
}

}  // namespace

Op quantize() {
  Op op = real_op("quantize_affine");
  add_impls(op, quantize_program,
            {"correct", "null_kernel", "one_element_not_written", "write_past_end", "write_before_start",
             "input_overwritten", "zero_point_ignored", "zero_point_off_by_one", "half_away", "truncation",
             "scale_off", "only_batch_0", "width_tail_dropped", "reads_past_end", "keeps_old_bit",
             "wrong_without_guards", "reads_uninitialized_variable",
             "keeps_the_larger_of_an_uninitialized_variable", "reads_uninitialized_workgroup_memory"});
  return op;
}

Op dequantize() {
  Op op = real_op("dequantize_affine");
  add_impls(op, dequantize_program, {"correct", "nan_output", "minus_zero"});
  return op;
}

Op pixel_shuffle() {
  Op op = real_op("q8ta_pixel_shuffle");
  add_impls(op, pixel_shuffle_program,
            {"correct", "copy_kernel", "requantize_skipped", "swapped_layout", "only_batch_0",
             "depends_on_padding"});
  return op;
}

Op clone() {
  Op op = real_op("q8ta_clone");
  add_impls(
      op, clone_program,
      {"correct", "lanes_swapped", "only_batch_0", "tail_block_dropped", "guard_copied", "reads_guard"});
  return op;
}

Op quantize_tensor() {
  Op op = with_textures(real_op("q8ta_quantize"));
  add_impls(op, quantize_tensor_program, {"correct", "half_away"});
  return op;
}

Op dequantize_tensor() {
  Op op = with_textures(real_op("q8ta_dequantize"));
  add_impls(op, dequantize_tensor_program, {"correct", "zero_point_off_by_one"});
  return op;
}

Op matmul() {
  Op op;
  op.name = "matmul";
  op.params = {integer("m").at_least(1), integer("k").at_least(1).at_most(256),
               integer("n").at_least(1).at_most(local_size)};
  op.tensors = matmul_tensors;
  op.reference = matmul_reference;
  op.work = [](const Params&, std::span<const TensorSpec> tensors) { return streaming_work(tensors); };
  add_impls(op, matmul_program,
            {"correct", "last_k_dropped", "column_tail_dropped", "counted_twice", "return_before_barrier",
             "missing_barrier", "uninitialized_shared"});
  op.impls.push_back({.name = "does_not_compile", .build = does_not_compile});
  op.impls.push_back({.name = "endless", .build = endless});
  op.impls.push_back({.name = "slow", .build = slow});
  op.impls.push_back({.name = "wrong_when_repeated", .build = wrong_when_repeated});
  op.impls.push_back({.name = "oversized_workgroup", .build = oversized_workgroup});
  op.impls.push_back({.name = "oversized_scratch", .build = oversized_scratch});
  return op;
}

Params quantize_params(const Shape& shape) {
  static const Op op = real_op("quantize_affine");
  Params params;
  params.set("shape", shape);
  params.set("block_size", Shape{-1, 1, -1, -1});
  return with_defaults(op, std::move(params));
}

Params dequantize_params(const Shape& shape) {
  static const Op op = real_op("dequantize_affine");
  Params params;
  params.set("shape", shape);
  params.set("block_size", Shape{-1, -1, -1, -1});
  return with_defaults(op, std::move(params));
}

Params pixel_shuffle_params(const Shape& shape, std::int64_t factor, bool equal_qparams) {
  Params params;
  params.set("shape", shape);
  params.set("upscale_factor", factor);
  params.set("x", QParams{0.007112F, 3});
  params.set("y", equal_qparams ? QParams{0.007112F, 3} : QParams{0.013F, -5});
  return params;
}

Params clone_params(const Shape& shape) {
  Params params;
  params.set("shape", shape);
  return params;
}

Params quantize_tensor_params(const Shape& shape) {
  static const Op op = real_op("q8ta_quantize");
  Params params;
  params.set("shape", shape);
  params.set("y", QParams{0.25F, -3});
  return with_defaults(op, std::move(params));
}

Params dequantize_tensor_params(const Shape& shape) {
  static const Op op = real_op("q8ta_dequantize");
  Params params;
  params.set("shape", shape);
  params.set("x", QParams{0.25F, -3});
  return with_defaults(op, std::move(params));
}

Params matmul_params(std::int64_t m, std::int64_t k, std::int64_t n) {
  Params params;
  params.set("m", m);
  params.set("k", k);
  params.set("n", n);
  return params;
}

Op update_cache() {
  Op op = real_op("update_cache");
  add_impls(
      op, update_program,
      {"correct", "null_kernel", "last_value_not_written", "writes_what_is_kept", "zeros_what_is_kept"});
  op.impls.push_back({.name = "reads_the_cache", .build = [](const BuildContext& context) {
                        return update_program(context, "reads_the_cache");
                      }});
  return op;
}

Params update_cache_params(const Shape& shape, std::int64_t capacity, std::int64_t start) {
  Params params;
  params.set("B", shape[0]);
  params.set("S", shape[1]);
  params.set("Hkv", shape[2]);
  params.set("D", shape[3]);
  params.set("C", capacity);
  params.set("start_pos", start);
  return with_defaults(real_op("update_cache"), params);
}

Op flip(Storage storage) {
  Op op;
  op.name = "flip_" + std::string(name_of(storage));
  op.params = {shape("shape")};
  op.tensors = [storage](const Params& params) { return flip_tensors(params, storage); };
  op.reference = flip_reference;
  op.work = [](const Params&, std::span<const TensorSpec> tensors) { return streaming_work(tensors); };
  for (const char* fault : {"correct", "rows_swapped", "one_texel_not_written", "one_texel_wrong",
                            "depends_on_padding", "keeps_old_bit", "input_overwritten"}) {
    op.impls.push_back({.name = fault, .build = [name = std::string(fault)](const BuildContext& context) {
                          return flip_program(context, name);
                        }});
  }
  return op;
}

Params flip_params(const Shape& shape) {
  Params params;
  params.set("shape", shape);
  return params;
}

}  // namespace assay::faults
