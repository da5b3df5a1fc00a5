#include "references/q8ta_quantize.h"

#include "harness/op/op.h"
#include "ops/affine/affine.h"
#include "ops/common/forms.h"
#include "ops/common/grid.h"
#include "ops/relayout/reorder.h"
#include "ops/relayout/tile_boxes.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  // `saturate` reaches as far beyond the range's ends as inside.
  const double saturating = 256.0 * static_cast<double>(params.qparams("y").scale);
  return {{.name = "x",
           .dtype = parse_dtype(params.choice("dtype")).value(),
           .shape = shape,
           .forms = float_forms(),
           .domain = {FillRole::Data, 0, saturating}},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = DType::I8,
           .shape = shape,
           .forms = int8_forms()}};
}

Program tiled(const BuildContext& context) {
  return {.dispatches = {move_dispatch(context, "quantize", tensor_at(context, 0), tensor_at(context, 1),
                                       quantizing(context.params.qparams("y")))}};
}

std::optional<std::string> excludes(const Params&, std::span<const TensorSpec> tensors,
                                    std::span<const Form> forms) {
  return too_large({forms[1], DType::I8, tensors[1].shape});
}

}  // namespace

Op q8ta_quantize() {
  return {
      .name = "q8ta_quantize",
      .summary = "real to int8x4 values, one scale and zero point for all",
      .params =
          {shape("shape", rank(1, 4)),
           choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of the real values"),
           qparams("y")},
      .tensors = tensors,
      .reference = references::q8ta_quantize,
      .work = affine_work,
      .impls = {{.name = "tiled",
                 .summary = "one invocation 4 x 4 values, transposed in registers where lanes change",
                 .tunables = box_tunables(),
                 .build = tiled,
                 .excludes = excludes}},
  };
}

}  // namespace assay::ops
