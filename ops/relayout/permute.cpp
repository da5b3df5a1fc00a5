#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/reorder.h"
#include "references/relayout/relayout.h"

#include <algorithm>

namespace assay::ops {
namespace {

/// Why the values keep their row-major order, or nothing.
std::string copy_because(const Shape& shape, const Shape& dims) {
  Shape moved;
  for (const std::int64_t dim : dims) {
    if (shape[static_cast<std::size_t>(dim)] > 1) moved.push_back(dim);
  }
  return std::is_sorted(moved.begin(), moved.end()) ? "only dims of size 1 change places" : "";
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const Shape& dims = params.ints("dims");
  const Shape y_shape = references::permuted(shape, dims);
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  return {{.name = "x", .dtype = dtype, .shape = shape, .forms = float_forms()},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = dtype,
           .shape = y_shape,
           .forms = float_forms(),
           .copy_because = copy_because(shape, dims)}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

Program gather(const BuildContext& context) {
  return {.dispatches = {permute_dispatch(context, "permute", tensor_at(context, 0), tensor_at(context, 1),
                                          context.params.ints("dims"))}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return too_large({{Storage::Buffer, Layout::WP}, point.tensors[0].dtype, point.tensors[0].shape});
}

}  // namespace

Op permute() {
  return {
      .name = "permute",
      .summary = "the dims of a tensor in another order",
      .params = {shape("shape", rank(1, 4)),
                 ints("dims", rank(1, 4)).says("for each dim of y the dim of x that it is, counted from 0"),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32"))},
      .tensors = tensors,
      .reference = references::permute,
      .work = work,
      .impls = {{.name = "gather",
                 .summary = "each invocation gathers four neighbouring values of y",
                 .tunables = {local_size_tunable()},
                 .build = gather,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
