#include "harness/base/error.h"
#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/reorder.h"
#include "references/relayout/relayout.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const Shape& new_shape = params.ints("new_shape");
  if (numel(shape) != numel(new_shape)) {
    throw ParameterError("new_shape", "new_shape " + to_string(new_shape) + " has " +
                                          std::to_string(numel(new_shape)) + " elements, shape " +
                                          to_string(shape) + " has " + std::to_string(numel(shape)));
  }
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  return {{.name = "x", .dtype = dtype, .shape = shape, .forms = float_forms()},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = dtype,
           .shape = new_shape,
           .forms = float_forms(),
           .copy_because = "a view holds the values of its input in their order"}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

Program copy(const BuildContext& context) {
  Dispatch dispatch = view_dispatch(context, "view", tensor_at(context, 0), tensor_at(context, 1));
  dispatch.role = DispatchRole::Transition;
  return {.dispatches = {std::move(dispatch)}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return too_large({{Storage::Buffer, Layout::WP}, point.tensors[0].dtype, point.tensors[0].shape});
}

}  // namespace

Op view() {
  return {
      .name = "view",
      .summary = "the same values in row-major order, in another shape",
      .params = {shape("shape", rank(1, 4)), shape("new_shape", rank(1, 4)),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32"))},
      .tensors = tensors,
      .reference = references::view,
      .work = work,
      .impls = {{.name = "copy",
                 .summary = "each invocation gathers four values; a plain copy between width-packed buffers",
                 .tunables = {local_size_tunable()},
                 .build = copy,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
