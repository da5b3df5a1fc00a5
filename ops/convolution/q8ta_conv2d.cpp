#include "ops/convolution/impls.h"
#include "ops/convolution/tensors.h"
#include "references/convolution/conv2d.h"

namespace assay::ops {

Op q8ta_conv2d() {
  return integer_convolution(
      "q8ta_conv2d",
      "2D convolution: int8 x and y with one scale each, int8 weights with one scale per output channel",
      ConvolutionKind::Any, Layout::P4C,
      {direct_convolution("general"), im2col_convolution(), implicit_convolution("implicit"),
       chosen_convolution("implicit", "im2col", "general")});
}

}  // namespace assay::ops
