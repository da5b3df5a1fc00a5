#include "references/transformer/silu_mul.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t bytes_of_vector = 16;
constexpr std::int64_t operations = 4;  // exp, +, /, *
/// The fill `saturate` then has gates between -200 and 200: exp() overflows, and its results are flushed.
constexpr double large_gate = 100;

std::vector<TensorSpec> tensors(const Params& params) {
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  TensorSpec g{.name = "g",
               .dtype = dtype,
               .shape = params.ints("shape"),
               .forms = {{Storage::Buffer, Layout::WP}},
               .domain = {.hi = large_gate}};
  TensorSpec u = g;
  u.name = "u";
  u.domain = {};
  TensorSpec y = u;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return {std::move(g), std::move(u), std::move(y)};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(tensors[2].shape);
  return work;
}

Program elementwise(const BuildContext& context) {
  const Physical y = context.physical(2);
  const bool whole = y.elements() * static_cast<std::int64_t>(size_of(y.dtype())) % bytes_of_vector == 0;
  const std::int64_t vectors = y.bytes() / (whole ? bytes_of_vector : 4);
  Dispatch dispatch{.label = "silu_mul", .shader = "silu_mul.comp"};
  dispatch.defines = {{"F16", flag(y.dtype() == DType::F16)}, {"WHOLE_QUADS", flag(whole)}};
  dispatch.push.add(vectors);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  set_vector_grid(dispatch, context, vectors);
  return {.dispatches = {std::move(dispatch)}};
}

/// exp(-g) is off by 3 + 2|g| ULP, the sum by half of one, the quotient by 2.5 and the product by half of
/// one: 6.5 + 2|g| ULP, which is less than 7 (1 + |g| / 2) ULP with all that is of second order.
double unit_error(const BuildContext&) {
  return 7 * float32_ulp;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

Op silu_mul() {
  return {
      .name = "silu_mul",
      .summary = "g / (1 + exp(-g)) * u: the gate of a SwiGLU layer",
      .params = {shape("shape", rank(1, 4)).says("of g, u and y"),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of g, u and y")},
      .tensors = tensors,
      .reference = references::silu_mul,
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
