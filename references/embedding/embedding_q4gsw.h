#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// The checked parameters of embedding_q4gsw.
struct EmbeddingQ4gsw {
  Shape indices;
  std::int64_t vocab = 1;       ///< rows of the table
  std::int64_t dim = 8;         ///< values per row
  std::int64_t group_size = 8;  ///< neighbours in a row that share a scale: a multiple of 8 that divides dim
  DType dtype = DType::F32;     ///< dtype of y: F32 or F16

  Shape w_shape() const { return {vocab, dim / 2}; }
  Shape scale_shape() const { return {vocab, dim / group_size}; }
  Shape y_shape() const;  ///< [indices..., dim]
};

/// Reads indices, vocab, dim, group_size and dtype. Throws ParameterError where they do not fit each other.
EmbeddingQ4gsw embedding_q4gsw_params(const Params& params);

/// y[i..., d] = w_scale[v, d / group_size] * (nibble - 8) with v = indices[i...]; the nibble of an even d is
/// the high one of byte w[v, d / 2]. float32 is exact; float16 is the float32 value rounded to nearest even,
/// bounded by 1 ulp. `inputs`: w (u8), w_scale (f32), indices (i32, each in [0, vocab)).
std::vector<Expected> embedding_q4gsw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
