#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y[n, c, oh, ow] = x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r], f32 or f16; r is the parameter
/// upscale_factor. The shape of y is pixel_shuffled() of references/pixel_shuffle/q8ta_pixel_shuffle.h.
/// Exact. `inputs`: x.
std::vector<Expected> pixel_shuffle(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
