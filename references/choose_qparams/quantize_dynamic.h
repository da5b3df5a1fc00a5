#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// The parameters for choose_affine() and quantize_affine() with one block per token (a row along the last
/// dim) and integer zero points: `params` with block_size and zero_point_domain.
Params dynamic_params(Params params);

/// The outputs scale (f32), zero_point (i32) and q: scale and zero point of each token by choose_qparams(), q
/// by quantize_affine() with them; exact. Reads shape, dtype, mapping, quantized, quant_min, quant_max and
/// eps. `inputs`: x.
std::vector<Expected> quantize_dynamic(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
