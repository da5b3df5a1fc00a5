#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/shape.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// The shape whose dim i is dim `dims[i]` of `shape`. Throws ParameterError on "dims" unless it is a
/// permutation of 0 .. rank - 1.
Shape permuted(const Shape& shape, const Shape& dims);

/// y[i_0, i_1, ...] = x[j] with j[dims[k]] = i_k. Exact. `inputs`: x.
std::vector<Expected> permute(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
