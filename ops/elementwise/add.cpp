#include "references/elementwise/add.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t bytes_of_vector = 16;

std::vector<TensorSpec> tensors(const Params& params) {
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  TensorSpec a{
      .name = "a", .dtype = dtype, .shape = params.ints("shape"), .forms = {{Storage::Buffer, Layout::WP}}};
  TensorSpec b = a;
  b.name = "b";
  TensorSpec y = a;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return {std::move(a), std::move(b), std::move(y)};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = numel(tensors[2].shape);
  return work;
}

Program elementwise(const BuildContext& context) {
  const Physical y = context.physical(2);
  const bool whole = y.elements() * static_cast<std::int64_t>(size_of(y.dtype())) % bytes_of_vector == 0;
  const std::int64_t vectors = y.bytes() / (whole ? bytes_of_vector : 4);
  Dispatch dispatch{.label = "add", .shader = "add.comp"};
  dispatch.defines = {{"F16", flag(y.dtype() == DType::F16)}, {"WHOLE_QUADS", flag(whole)}};
  dispatch.push.add(vectors);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  set_vector_grid(dispatch, context, vectors, 1);
  return {.dispatches = {std::move(dispatch)}};
}

/// One rounding, which the reference makes, too.
double unit_error(const BuildContext&) {
  return 0;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

Op add() {
  return {
      .name = "add",
      .summary = "a + b of floats: a residual addition",
      .params = {shape("shape", rank(1, 4)).says("of a, b and y"),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of a, b and y")},
      .tensors = tensors,
      .reference = references::add,
      .work = work,
      .impls = {{.name = "elementwise",
                 .summary = "one dispatch: 16 bytes at a time",
                 .tunables = {local_size_tunable(), vectors_tunable()},
                 .build = elementwise,
                 .invalid_reason = invalid_reason,
                 .unit_error = unit_error}},
  };
}

}  // namespace assay::ops
