#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

struct UpdateCache {
  std::int64_t batch, tokens, heads, width;  ///< the dims of x: B, S, H, D
  std::int64_t capacity;                     ///< C: the cache's positions
  std::int64_t start;                        ///< position of the first token
  bool by_head;                              ///< the cache is [B, H, C, D], else [B, C, H, D]
  DType dtype;                               ///< of x and the cache

  Shape cache_shape() const;
  /// The index of the first value of a head of x in the cache.
  std::int64_t at(std::int64_t in_batch, std::int64_t token, std::int64_t head) const;
};

/// Throws ParameterError where the tokens do not fit in the cache.
UpdateCache update_cache_params(const Params& params);

/// cache[b, start_pos + s, h, :] = x[b, s, h, :]; the other elements are kept. Exact. Inputs: x [B, S, H, D],
/// and the cache before, whose shape follows `layout`.
std::vector<Expected> update_cache(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
