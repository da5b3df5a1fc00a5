#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

struct UpdateCache {
  std::int64_t batch, tokens, heads, width;  ///< the dims of x: B, S, Hkv, D
  std::int64_t capacity;                     ///< C: rows of the cache per batch and head
  std::int64_t start;                        ///< position of the first token
  bool by_head;                              ///< the cache is [B, Hkv, C, D], else [B, C, Hkv, D]
  bool q8;                                   ///< the cache is int8 with one scale per row
  DType dtype;                               ///< of x, and of the cache unless it is int8

  Shape x_shape() const { return {batch, tokens, heads, width}; }
  Shape cache_shape() const;
  Shape scale_shape() const;
  /// The row of the cache for a row of x.
  std::int64_t cache_row(std::int64_t row) const;
};

/// Throws ParameterError where the tokens do not fit in the cache.
UpdateCache update_cache_params(const Params& params);

/// An output that begins as `before`, all of which is kept.
Expected all_kept(const HostTensor& before);

/// Codes are within +-127.
inline constexpr float largest_code = 127;

/// Rows of int8 whose values are all smaller are taken for zeros: a device may flush what their scale is made
/// of.
inline constexpr float least_of_row = 0x1p-100F;

/// cache[b, start_pos + s, h, :] = x[b, s, h, :]; the other rows are kept. Exact. Inputs: x, and the cache
/// before. An int8 cache has a second input and output, the scales: s = max|x| / 127 of a row, 1 if the row
/// is zero, and cache = clamp(roundEven(x * fl(1 / s)), -127, 127), each step in float32. A NaN becomes 0.
std::vector<Expected> update_cache(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
