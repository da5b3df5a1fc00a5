#include "harness/op/op.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/q8ta_conversion.h"
#include "ops/relayout/relayout.h"
#include "references/relayout/relayout.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  return {{.name = "x",
           .dtype = DType::I8,
           .shape = shape,
           .forms = int8_forms(),
           .domain = {FillRole::Data, -128, 127}},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = DType::I8,
           .shape = shape,
           .forms = int8_forms(),
           .copy_because = "a clone holds the values of its input"}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

Program tiled(const BuildContext& context) {
  return {.dispatches = {relayout_dispatch(context, "clone", tensor_at(context, 0), tensor_at(context, 1))}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return relayout_invalid_reason({point.forms[0], DType::I8, point.tensors[0].shape},
                                 {point.forms[1], DType::I8, point.tensors[1].shape});
}

}  // namespace

Op q8ta_clone() {
  return {
      .name = "q8ta_clone",
      .summary = "an int8x4 tensor in another layout",
      .params = {shape("shape", rank(1, 4))},
      .tensors = tensors,
      .reference = references::q8ta_clone,
      .work = work,
      .impls = {tiled_impl(tiled, invalid_reason)},
  };
}

}  // namespace assay::ops
