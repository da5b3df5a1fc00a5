#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/relayout.h"
#include "ops/relayout/reorder.h"
#include "references/relayout/relayout.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  return {{.name = "x", .dtype = dtype, .shape = shape, .forms = float_forms()},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = dtype,
           .shape = shape,
           .forms = float_forms(),
           .copy_because = "a clone holds the values of its input"}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

Program tiled(const BuildContext& context) {
  return {.dispatches = {move_dispatch(context, "clone", tensor_at(context, 0), tensor_at(context, 1))}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

Op clone() {
  return {
      .name = "clone",
      .summary = "the same values in another float form",
      .params = {shape("shape", rank(1, 4)), choice("dtype", {"f32", "f16"}).by_default(std::string("f32"))},
      .tensors = tensors,
      .reference = references::clone,
      .work = work,
      .impls = {{.name = "tiled",
                 .summary = "a copy where the order in memory stays; otherwise an invocation moves a quad, "
                            "transposes 4 x 4 values or 8 x 8 halves in registers, or moves one texel of "
                            "textures packed along another axis",
                 .tunables = box_tunables(),
                 .build = tiled,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
