#include "ops/convolution/impls.h"
#include "ops/convolution/tensors.h"
#include "references/convolution/conv2d.h"

namespace assay::ops {

Op q8ta_conv2d_transposed() {
  return integer_convolution(
      "q8ta_conv2d_transposed",
      "transposed 2D convolution of int8 values: each pixel of y gathers the values of x that spread to it",
      ConvolutionKind::Transposed, Layout::P4C,
      {direct_convolution("general"), implicit_convolution("implicit"),
       chosen_convolution("implicit", "", "general")});
}

}  // namespace assay::ops
