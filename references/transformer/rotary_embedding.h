#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

struct RotaryEmbedding {
  std::int64_t batch, tokens, heads, width;  ///< the dims of x: B, S, H, D
  std::int64_t turned;                       ///< R: values of a head that turn
  std::int64_t start;                        ///< position of the first token
  std::int64_t positions;                    ///< rows of the tables
  bool interleaved;                          ///< pairs are (2i, 2i + 1), else (i, i + R / 2)
  DType dtype;                               ///< of x and y

  Shape table_shape() const { return {positions, turned / 2}; }
};

/// Throws ParameterError where R is odd or more than D, or where the tables have too few positions.
RotaryEmbedding rotary_embedding_params(const Params& params);

/// Turns each pair (a, b) of the first R values of a head to (a cos - b sin, a sin + b cos), by the row of
/// the tables for its token's position, in float64; the other values are copied exactly. Inputs: x [B, S, H,
/// D], cos and sin [positions, R / 2], whose magnitudes are at most 1. The magnitudes are |a cos| + |b sin|
/// and |a sin| + |b cos|. A product may vanish where a factor may be flushed to zero.
std::vector<Expected> rotary_embedding(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
