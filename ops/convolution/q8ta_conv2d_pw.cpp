#include "ops/convolution/impls.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/tiled.h"
#include "references/convolution/conv2d.h"

namespace assay::ops {

Op q8ta_conv2d_pw() {
  constexpr LinearKind of_int8{XKind::Int8, WeightKind::Int8};
  return integer_convolution(
      "q8ta_conv2d_pw", "pointwise 2D convolution, 1x1, of int8 values", ConvolutionKind::Pointwise,
      Layout::P4W4C,
      {tile_n4_convolution("tile_n4_1", 4), tile_n4_convolution("tile_n4_2", 8),
       pointwise_convolution(tiled_linear("dot4x8", of_int8, true)),
       pointwise_convolution(coopmat_linear(of_int8)), chosen_convolution("coopmat", "dot4x8", "tile_n4_2")});
}

}  // namespace assay::ops
