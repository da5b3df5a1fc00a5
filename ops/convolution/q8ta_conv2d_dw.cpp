#include "ops/convolution/depthwise.h"
#include "ops/convolution/integer_ops.h"
#include "references/convolution/q8ta_conv2d.h"

namespace assay::ops {
namespace {

Impl choosing() {
  Impl impl{.name = "auto"};
  impl.summary = "`direct`";
  impl.choose = [](const BuildContext&) { return std::vector<std::string>{"direct"}; };
  return impl;
}

}  // namespace

Op q8ta_conv2d_dw() {
  return integer_convolution(
      "q8ta_conv2d_dw",
      "depthwise convolution: int8 x and y with one scale each, int8 weights with one scale per channel",
      ConvolutionKind::Depthwise, Layout::P4C1W, {depthwise_direct(), choosing()});
}

}  // namespace assay::ops
