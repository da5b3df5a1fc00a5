#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

// Norms of the rows along the last dim of x, whose size is D, in float64. Tensors have the parameter `dtype`,
// x and y the parameter `shape`, w and b the shape [D]. The parameter `eps` is above 0. The magnitudes of
// values are at most 2^60, so that float32 sums of squares stay finite; a NaN in a row gives NaN in the whole
// row.

/// y = x * w / sqrt(mean(x^2) + eps). Inputs: x, w. With the parameter `residual` there is a third input, and
/// y is the norm of h = x + residual, rounded to the dtype, which is the second output. The magnitude is |y|;
/// with a residual the bound of float16 has 2^-10 |y| more, because devices round h either way.
std::vector<Expected> rms_norm(const Params& params, std::span<const HostTensor> inputs);

/// y = (x - mean) / S * w + b with S = sqrt(mean((x - mean)^2) + eps). Inputs: x, w, b. The magnitude is
/// |w| (|x| + mean|x|) / S + |w| |x - mean| (max|x| + mean|x|) / S^2 + |b|.
std::vector<Expected> layer_norm(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
