#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = x, f32 or f16: a clone changes where values lie, never their values. Exact. `inputs`: x.
std::vector<Expected> clone(const Params& params, std::span<const HostTensor> inputs);

/// y = x: a clone changes where values lie, never their values. Exact. `inputs`: x.
std::vector<Expected> q8ta_clone(const Params& params, std::span<const HostTensor> inputs);

/// y holds the values of x in row-major order, in the shape `new_shape`. Exact. `inputs`: x.
std::vector<Expected> view(const Params& params, std::span<const HostTensor> inputs);

/// The shape whose dim i is dim `dims[i]` of `shape`. Throws ParameterError on "dims" unless it is a
/// permutation of 0 .. rank - 1.
Shape permuted(const Shape& shape, const Shape& dims);

/// y[i_0, i_1, ...] = x[j] with j[dims[k]] = i_k. Exact. `inputs`: x.
std::vector<Expected> permute(const Params& params, std::span<const HostTensor> inputs);

/// y = clamp(roundEven(x * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step in float32; a NaN gives
/// the zero point. x is f32 or f16, y is i8 of the same shape. Exact. `inputs`: x.
std::vector<Expected> q8ta_quantize(const Params& params, std::span<const HostTensor> inputs);

/// y = x.scale * float(x - x.zero_point), the difference in int32. x is i8, y is of the parameter `dtype`:
/// f32 (exact) or f16 (bounded: 1 ulp). `inputs`: x.
std::vector<Expected> q8ta_dequantize(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
