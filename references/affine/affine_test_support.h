#pragma once

// Parameters and inputs that the tests of quantize_affine and dequantize_affine share.

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/affine/affine.h"
#include "references/golden/golden_test_support.h"

#include <random>

namespace assay::test {

/// Parameters with defaults filled in: f32, i8, the whole range, the int domain.
Params affine_params(const Shape& shape, const std::vector<std::int64_t>& block_size);

/// The parameters of a golden vector; `real` and `quantized` are the dtypes of its tensors.
Params params_of(const Golden& golden, DType real, DType quantized);

/// A random point that the two ops accept: a shape of rank 1 to 4, blocks that need not divide it, a range
/// and a domain.
Params random_affine_params(std::mt19937& random);

/// The row-major block id of a row-major element, computed from coordinates as it is defined.
std::int64_t plain_block_of(const references::Affine& affine, std::int64_t index);

/// The tensors scale and, unless the domain is none, zero point for `params`.
std::vector<HostTensor> random_scale_and_zero_point(const Params& params, std::mt19937& random);

}  // namespace assay::test
