#include "ops/convolution/depthwise.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "references/q8ta_conv2d.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Convolution conv =
      convolution_of(params, ConvolutionKind::Depthwise, references::most_depth_with_zero_point);
  if (params.choice("epilogue") == "fixed_point") check_fixed_point(params, conv.linear_of_group());
  const std::vector<Form> forms = channel_word_forms(Layout::P4C1W);
  return convolution_tensors(conv, int8_images("x", conv, forms), int8_images("y", conv, forms));
}

Impl choosing() {
  Impl impl{.name = "auto"};
  impl.summary = "`direct`";
  impl.choose = [](const BuildContext&) { return std::vector<std::string>{"direct"}; };
  return impl;
}

}  // namespace

Op q8ta_conv2d_dw() {
  return {.name = "q8ta_conv2d_dw",
          .summary =
              "depthwise convolution: int8 x and y with one scale each, int8 weights with one scale a "
              "channel",
          .params = convolution_params(ConvolutionKind::Depthwise,
                                       {qparams("x"), convolution_y_qparams_param(), epilogue_param()}),
          .tensors = tensors,
          .reference = references::q8ta_conv2d,
          .work = convolution_work,
          .impls = {depthwise_direct(), choosing()}};
}

}  // namespace assay::ops
