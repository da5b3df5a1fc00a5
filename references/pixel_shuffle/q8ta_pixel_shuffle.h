#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/shape.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// The output shape {n, c/(r*r), h*r, w*r}. Throws ParameterError on "shape" where r*r does not divide c.
Shape pixel_shuffled(const Shape& shape, std::int64_t upscale_factor);

/// y[n, c, oh, ow] = x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r], int8, each value requantized from the
/// parameter x to y: clamp(roundEven(((q - x.zero_point) * x.scale) * fl32(1 / y.scale)) + y.zero_point),
/// each step in float32; unchanged where x and y are equal. Exact. `inputs`: x.
std::vector<Expected> q8ta_pixel_shuffle(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
