#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// Scaled dot-product attention with grouped queries, whose keys and values lie in a cache.
struct Sdpa {
  std::int64_t batch, tokens;     ///< B, S: queries of each head
  std::int64_t heads, kv_heads;   ///< H, Hkv: head h reads the cache's head h / (H / Hkv)
  std::int64_t width;             ///< D: values of a head
  std::int64_t capacity;          ///< C: rows of the cache
  std::int64_t start;             ///< position of the first query
  bool causal, masked, by_heads;  ///< by_heads: the layout is bhsd
  bool q8;                        ///< k and v are int8 with a scale a row
  double scale;                   ///< of the scores
  DType dtype;                    ///< of q and y, and of k and v unless these are int8

  std::int64_t heads_of_group() const { return heads / kv_heads; }
  /// Rows of the cache that exist: those of the tokens before and of these.
  std::int64_t valid() const { return start + tokens; }
  /// Keys that query `token` may see, as far as causality decides.
  std::int64_t end_of_keys(std::int64_t token) const { return causal ? start + token + 1 : valid(); }

  Shape shape_of_q() const;
  Shape shape_of_cache() const;
  Shape shape_of_scales() const;  ///< without D
  Shape shape_of_mask() const { return {tokens, valid()}; }
  std::size_t axis_of_rows() const { return by_heads ? 2 : 1; }  ///< of the cache and of its scales

  /// The first element of a head of q or y, and of a row of k or v.
  std::int64_t first_of_q(std::int64_t image, std::int64_t token, std::int64_t head) const;
  std::int64_t first_of_row(std::int64_t image, std::int64_t row, std::int64_t kv_head) const;
};

/// Throws ParameterError where H is no multiple of Hkv, or where the cache has fewer rows than start_pos + S.
Sdpa sdpa_params(const Params& params);

/// y = softmax(q k^T * scale + mask) v for each head, in float64. Inputs: q, k, v, with a q8 cache the scales
/// of k and of v, then the mask, if there is one, f32 [S, start_pos + S].
///
/// A key is hidden where causality, a mask of -infinity, or the end of the valid rows says so. Hidden keys
/// have no influence, whatever k and v hold there. A query that sees no key gives zeros. NaN in q or in a
/// visible row of k gives NaN in the query's whole row, NaN in v in its column.
///
/// Magnitude: with p the weights of the visible keys, a_k = scale * sum_d |q_d k_kd| + |mask_k| + |s_k - m|,
/// A = sum_k p_k a_k, and R the most times that a pass over keys in their order raises the largest score, it
/// is sum_k p_k |v_kd| (1 + 50 R / (D + 104) + a_k + A). Raising it multiplies what was summed, and the
/// total, by a factor: together 20 roundings, where the unit error of an impl has at least D / 2 + 52.
///
/// Sums: sum_k p_k |v_kd|, for the additions, of which there are many at long contexts. Added to it is 2^-13
/// sum_k |v_kd| / sum_k exp(s_k - m), for impls that store exp(s_k - m) as f16: with their error of sums, at
/// least 2^-11, it covers what is lost below 2^-24. Weights that float32 flushes lose 2^-126 sum_k |v_kd|
/// besides.
std::vector<Expected> sdpa(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
