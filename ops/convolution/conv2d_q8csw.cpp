#include "ops/convolution/impls.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/tensors.h"
#include "references/convolution/conv2d.h"

#include <utility>

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Convolution conv = convolution_of(params, ConvolutionKind::Any, references::any_depth);
  TensorSpec y = real_images("y", conv);
  y.output_class = OutputClass::Bounded;
  return convolution_tensors(conv, real_images("x", conv), std::move(y));
}

Impl chosen() {
  Impl impl{.name = "auto"};
  impl.summary =
      "implicit where x is f16 and the device fast at it, else im2col where there is one group, else direct";
  impl.choose = [](const BuildContext& context) {
    std::vector<std::string> ranking{"im2col", "direct"};
    if (is_implicit_fast(context)) ranking.insert(ranking.begin(), "implicit");
    return ranking;
  };
  return impl;
}

}  // namespace

Op conv2d_q8csw() {
  return {
      .name = "conv2d_q8csw",
      .summary = "2D convolution: real x and y, int8 weights with one scale per output channel",
      .params = convolution_params(ConvolutionKind::Any, {real_dtype_param("type of x and y")}),
      .tensors = tensors,
      .reference = references::conv2d_q8csw,
      .work = convolution_work,
      .impls = {real_im2col_convolution(), real_direct_convolution(), real_implicit_convolution(), chosen()}};
}

}  // namespace assay::ops
