#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/transformer/rotary_embedding.h"
#include "references/transformer/update_cache.h"

#include <span>
#include <vector>

namespace assay::references {

/// The two ops that this one is.
struct RotaryUpdateCache {
  RotaryEmbedding rotary;
  UpdateCache update;
};

/// Throws ParameterError where R is odd or more than D, where the tables have too few positions, or where the
/// tokens do not fit in the cache.
RotaryUpdateCache rotary_update_cache_params(const Params& params);

/// cache[b, start_pos + s, h, :] = rotary_embedding(x)[b, s, h, :]; the other rows are kept. Inputs: x, cos,
/// sin, and the cache before. What is kept has bits, so that all values have the cache's type; the bound of a
/// value that turns includes what rounding it to that type changes.
///
/// An int8 cache has a second input and output, the scales, and becomes what update_cache makes of float32
/// values that turned; those of f16 are not rounded to halves in between. Codes are banded: before rounding
/// one may be off by that value's error, and by its share of the error of the scale. Where a row's
/// largest value is as near to least_of_row as its error, a device may be right and fail.
std::vector<Expected> rotary_update_cache(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
