#pragma once

#include "harness/op/params.h"
#include "harness/tensor/shape.h"

#include <cstdint>
#include <vector>

namespace assay::references {

/// Which elements share a scale and a zero point, where an op's name says it. Each is a block size of
/// quantize_affine.
enum class Granularity : std::uint8_t {
  PerTensor,  ///< all of them
  PerToken,   ///< those of one line along the last dim: tokens are the product of all dims but the last
  PerChannel  ///< those with one index along `axis`
};

/// Elements of a block along each dim. `axis` counts from -rank to rank - 1 and is used per channel only; one
/// that the shape does not have throws ParameterError.
std::vector<std::int64_t> block_size_of(Granularity granularity, const Shape& shape, std::int64_t axis = 0);

/// The parameters of quantize_affine and dequantize_affine that say the same as those of an op with a
/// granularity in its name: `shape` and, per channel, `axis` give `block_size`; zero points are integers.
Params affine_params_of(Granularity granularity, const Params& named);

}  // namespace assay::references
