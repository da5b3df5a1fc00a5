#include "ops/convolution/impls.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/tensors.h"
#include "references/convolution/conv2d.h"

#include <utility>

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Convolution conv =
      convolution_of(params, ConvolutionKind::Any, references::most_depth_with_zero_point);
  TensorSpec x = real_images("x", conv);
  // The fill `saturate` covers twice the range, so that half of the values lie beyond its ends.
  x.domain = {FillRole::Data, 0, 256.0 * static_cast<double>(params.qparams("x").scale)};
  TensorSpec y = real_images("y", conv);
  y.output_class = conv.real == DType::F32 ? OutputClass::Exact : OutputClass::Bounded;
  return convolution_tensors(conv, std::move(x), std::move(y));
}

}  // namespace

Op conv2d_q8ta_q8csw() {
  return {
      .name = "conv2d_q8ta_q8csw",
      .summary =
          "2D convolution: real x, quantized to int8 with one scale; int8 weights with one scale per output "
          "channel",
      .params = convolution_params(ConvolutionKind::Any, {real_dtype_param("type of x and y"), qparams("x")}),
      .tensors = tensors,
      .reference = references::conv2d_q8ta_q8csw,
      .work = convolution_work,
      .impls = {im2col_convolution(), direct_convolution("direct"), implicit_convolution("implicit"),
                chosen_convolution("implicit", "im2col", "direct")}};
}

}  // namespace assay::ops
