#include "references/q8ta_dequantize.h"

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
  const DType real = parse_dtype(params.choice("dtype")).value();
  return {{.name = "x",
           .dtype = DType::I8,
           .shape = shape,
           .forms = int8_forms(),
           .domain = {FillRole::Data, -128, 127}},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = real,
           .shape = shape,
           .forms = float_forms(),
           .output_class = real == DType::F16 ? OutputClass::Bounded : OutputClass::Exact}};
}

Program tiled(const BuildContext& context) {
  return {.dispatches = {move_dispatch(context, "dequantize", tensor_at(context, 0), tensor_at(context, 1),
                                       dequantizing(context.params.qparams("x")))}};
}

std::optional<std::string> excludes(const Params&, std::span<const TensorSpec> tensors,
                                    std::span<const Form> forms) {
  return too_large({forms[0], DType::I8, tensors[0].shape});
}

}  // namespace

Op q8ta_dequantize() {
  return {
      .name = "q8ta_dequantize",
      .summary = "int8x4 to real values, one scale and zero point for all",
      .params =
          {shape("shape", rank(1, 4)),
           choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of the real values"),
           qparams("x")},
      .tensors = tensors,
      .reference = references::q8ta_dequantize,
      .work = affine_work,
      .impls = {{.name = "tiled",
                 .summary = "one invocation 4 x 4 values, transposed in registers where lanes change",
                 .tunables = box_tunables(),
                 .build = tiled,
                 .excludes = excludes}},
  };
}

}  // namespace assay::ops
