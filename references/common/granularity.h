#pragma once

#include "harness/op/params.h"
#include "harness/tensor/shape.h"

#include <cstdint>
#include <vector>

namespace assay::references {

/// Which elements share a scale and a zero point, for ops whose name says it. Each is a block size of
/// quantize_affine.
enum class Granularity : std::uint8_t {
  PerTensor,  ///< all of them
  PerToken,  ///< elements of one line along the last dim; there are as many tokens as the other dims' product
  PerChannel  ///< elements with the same index along `axis`
};

/// The elements of a block along each dim. `axis` counts from -rank to rank - 1 and is used only per channel.
/// Throws ParameterError where the shape does not have the axis.
std::vector<std::int64_t> block_size_of(Granularity granularity, const Shape& shape, std::int64_t axis = 0);

/// The parameters of quantize_affine and dequantize_affine that mean the same as those of an op with a
/// granularity in its name: `shape` and, per channel, `axis` give `block_size`; zero points are integers.
Params affine_params_of(Granularity granularity, const Params& named);

}  // namespace assay::references
