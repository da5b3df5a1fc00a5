#include "ops/affine/affine_op.h"

#include "ops/affine/affine.h"
#include "references/affine/dequantize_affine.h"
#include "references/affine/quantize_affine.h"

#include <functional>
#include <utility>

namespace assay::ops {
namespace {

using references::Affine;
using references::Granularity;

/// One of the two directions, quantizing or dequantizing, given the parameters of quantize_affine.
struct Direction {
  std::vector<TensorSpec> (*tensors)(const Affine&);
  std::vector<Expected> (*reference)(const Params&, std::span<const HostTensor>);
  Program (*build)(const BuildContext&);
  const char* data;  ///< names of the input and output that have the tensor's shape
};

std::vector<TensorSpec> around_block_tensors(const Affine& affine, TensorSpec input, TensorSpec output) {
  std::vector<TensorSpec> all = affine_block_tensors(affine);
  all.insert(all.begin(), std::move(input));
  all.push_back(std::move(output));
  return all;
}

/// The fill domain of a tensor of integers.
FillDomain integers_of(const Affine& affine) {
  return {FillRole::Data, static_cast<double>(affine.quant_min), static_cast<double>(affine.quant_max)};
}

std::vector<TensorSpec> quantizing_tensors(const Affine& affine) {
  // The fill `saturate` draws scales near 2^-8 .. 2^-6, so that half of the values lie beyond the range's
  // ends.
  const double saturating = 0x1p-6 * (affine.quant_max - affine.quant_min);
  const FillDomain reals{FillRole::Data, 0, saturating};
  return around_block_tensors(
      affine, affine_data(affine, "x", TensorSpec::Role::Input, affine.real, reals),
      affine_data(affine, "q", TensorSpec::Role::Output, affine.quantized, integers_of(affine)));
}

Program quantize(const BuildContext& context) {
  return {.dispatches = {affine_dispatch(context, "quantize", "quantize_affine.comp")}};
}

std::vector<TensorSpec> dequantizing_tensors(const Affine& affine) {
  TensorSpec y = affine_data(affine, "y", TensorSpec::Role::Output, affine.real, {});
  if (affine.real == DType::F16) y.output_class = OutputClass::Bounded;
  return around_block_tensors(
      affine, affine_data(affine, "q", TensorSpec::Role::Input, affine.quantized, integers_of(affine)),
      std::move(y));
}

Program dequantize(const BuildContext& context) {
  Dispatch dispatch = affine_dispatch(context, "dequantize", "dequantize_affine.comp");
  const DType quantized = context.tensors[0].dtype;
  if (!is_texture(context.forms[0]) && quantized != DType::I32) {
    dispatch.constants.push_back({"bytes_are_signed", quantized == DType::I8 ? 1u : 0u});
  }
  return {.dispatches = {std::move(dispatch)}};
}

std::vector<ParamSpec> params_of(std::optional<Granularity> granularity) {
  std::vector<ParamSpec> params = affine_params();
  if (!granularity) return params;
  std::erase_if(params, [](const ParamSpec& param) {
    return param.name == "block_size" || param.name == "zero_point_domain";
  });
  if (granularity == Granularity::PerChannel) {
    params.insert(params.begin() + 1,
                  integer("axis").says("dim of the channels, -rank to rank - 1, a negative one counted from "
                                       "the end; scale and zero_point have size 1 along the other dims"));
  }
  return params;
}

/// The parameters of quantize_affine for the same case.
std::function<Params(const Params&)> to_affine(std::optional<Granularity> granularity) {
  if (!granularity) return [](const Params& params) { return params; };
  return [which = *granularity](const Params& named) { return references::affine_params_of(which, named); };
}

Op declared(AffineOp op, const Direction& direction) {
  const auto translated = to_affine(op.granularity);
  const auto build = [=](const BuildContext& context) {
    const Params params = translated(context.params);
    return direction.build({params, context.tensors, context.forms, context.device, context.tune});
  };
  return {
      .name = std::move(op.name),
      .summary = std::move(op.summary),
      .params = params_of(op.granularity),
      .tensors =
          [=](const Params& params) { return direction.tensors(references::affine(translated(params))); },
      .reference =
          [=](const Params& params, std::span<const HostTensor> inputs) {
            return direction.reference(translated(params), inputs);
          },
      .work = affine_work,
      .impls = {{.name = "elementwise",
                 .summary = std::string("one invocation per quad of a buffer or per texel; ") +
                            direction.data + " in the same form",
                 .tunables = affine_tunables(),
                 .build = build,
                 .invalid_reason = affine_invalid_reason}},
  };
}

}  // namespace

Op quantizing_op(AffineOp op) {
  return declared(std::move(op), {quantizing_tensors, references::quantize_affine, quantize, "x and q"});
}

Op dequantizing_op(AffineOp op) {
  return declared(std::move(op),
                  {dequantizing_tensors, references::dequantize_affine, dequantize, "q and y"});
}

}  // namespace assay::ops
