#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// What choose_affine() and quantize_affine() need, for one block a token (a row along the last dim) and
/// integer zero points: `params` with block_size and zero_point_domain.
Params dynamic_params(Params params);

/// Scale and zero point of each token by choose_qparams(), then quantize_affine() with them: scale (f32),
/// zero_point (i32), q; exact. Reads shape, dtype, mapping, quantized, quant_min, quant_max and eps.
/// `inputs`: x.
std::vector<Expected> quantize_dynamic(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
