#include "references/dequantize_affine.h"

#include "harness/core/op.h"
#include "ops/common/affine.h"

namespace assay::ops {
namespace {

constexpr std::uint32_t bytes_are_signed_id = SpecConstant::first_free + 2;

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Affine affine = references::affine(params);
  const FillDomain integers{FillRole::Data, static_cast<double>(affine.quant_min),
                            static_cast<double>(affine.quant_max)};
  std::vector<TensorSpec> all{affine_data(affine, "q", TensorSpec::Role::Input, affine.quantized, integers)};
  for (TensorSpec& tensor : affine_block_tensors(affine)) all.push_back(std::move(tensor));
  all.push_back(affine_data(affine, "y", TensorSpec::Role::Output, affine.real, {}));
  if (affine.real == DType::F16) all.back().output_class = OutputClass::Bounded;
  return all;
}

Program elementwise(const BuildContext& context) {
  Dispatch dispatch = affine_dispatch(context, "dequantize", "dequantize_affine.comp");
  dispatch.constants.push_back({bytes_are_signed_id, context.tensors[0].dtype == DType::I8 ? 1u : 0u});
  return {.dispatches = {std::move(dispatch)}};
}

}  // namespace

Op dequantize_affine() {
  return {
      .name = "dequantize_affine",
      .summary = "integer to real values, one scale and zero point a block",
      .params = affine_params(),
      .tensors = tensors,
      .reference = references::dequantize_affine,
      .work = affine_work,
      .impls = {{.name = "elementwise",
                 .summary = "one invocation a quad of a buffer or a texel; q and y in the same form",
                 .tunables = affine_tunables(),
                 .build = elementwise,
                 .excludes = affine_excludes}},
  };
}

}  // namespace assay::ops
