#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/affine/affine.h"
#include "references/common/qparams.h"

#include <span>
#include <vector>

namespace assay::references {

/// The checked parameters of an op that chooses one scale and zero point per block.
struct ChooseQParams {
  BlockGrid grid;
  DType real = DType::F32;  ///< F32 or F16
  QParamsRule rule = QParamsRule::Asymmetric;
  QParamsLimits limits;
};

/// The parameters of choose_qparams_affine: any block, three mappings. Reads shape, block_size, dtype,
/// mapping, quantized, quant_min, quant_max and eps. Throws ParameterError where they do not fit each other.
ChooseQParams choose_affine(const Params& params);
/// The parameters of choose_qparams_tensor: the whole tensor is one block, asymmetric. Reads shape, dtype,
/// quantized, quant_min, quant_max and eps.
ChooseQParams choose_tensor(const Params& params);
/// The parameters of choose_qparams_per_token_asymmetric: one block per token (all dims but the last), -128
/// to 127. Reads shape, dtype and eps.
ChooseQParams choose_per_token(const Params& params);
/// The parameters of choose_qparams_per_row: one block per row of [H, W]. Reads shape, dtype, quant_min and
/// quant_max.
ChooseQParams choose_per_row(const Params& params);

/// Scale (f32) and zero point (i32) of every block, of shape `grid.counts`, exact: choose_qparams() of the
/// block's smallest and largest value, where 0 counts as a value and values that are not finite are skipped.
/// `inputs`: x.
std::vector<Expected> choose_qparams(const ChooseQParams& op, std::span<const HostTensor> inputs);

/// The parameters for choose_affine() and quantize_affine() with one block per token (a row along the last
/// dim) and integer zero points: `params` with block_size and zero_point_domain.
Params dynamic_params(Params params);

/// The outputs scale (f32), zero_point (i32) and q: scale and zero point of each token by choose_qparams(), q
/// by quantize_affine() with them; exact. Reads shape, dtype, mapping, quantized, quant_min, quant_max and
/// eps. `inputs`: x.
std::vector<Expected> quantize_dynamic(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
