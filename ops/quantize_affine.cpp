#include "references/quantize_affine.h"

#include "harness/core/op.h"
#include "ops/common/affine.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Affine affine = references::affine(params);
  // `saturate` draws scales near 2^-8 .. 2^-6: half of its values then lie on both sides of the range's end.
  const double saturating = 0x1p-6 * (affine.quant_max - affine.quant_min);
  const FillDomain reals{FillRole::Data, 0, saturating};
  std::vector<TensorSpec> all{affine_data(affine, "x", TensorSpec::Role::Input, affine.real, reals)};
  for (TensorSpec& tensor : affine_block_tensors(affine)) all.push_back(std::move(tensor));
  all.push_back(affine_data(affine, "q", TensorSpec::Role::Output, affine.quantized, {}));
  return all;
}

Program elementwise(const BuildContext& context) {
  return {.dispatches = {affine_dispatch(context, "quantize", "quantize_affine.comp")}};
}

}  // namespace

Op quantize_affine() {
  return {
      .name = "quantize_affine",
      .summary = "real to integer values, one scale and zero point a block",
      .params = affine_params(),
      .tensors = tensors,
      .reference = references::quantize_affine,
      .work = affine_work,
      .impls = {{.name = "elementwise",
                 .summary = "one invocation a quad of a buffer or a texel; x and q in the same form",
                 .tunables = affine_tunables(),
                 .build = elementwise,
                 .excludes = affine_excludes}},
  };
}

}  // namespace assay::ops
