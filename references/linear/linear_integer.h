#pragma once

#include "references/linear/linear.h"
#include "references/linear/linear_rows.h"

#include <functional>
#include <span>

namespace assay::references {

/// The float32 epilogue of an int32 sum of (x - zero_point) * w: each step a float32 operation, in this
/// order.
///   factor = x_scale * w_scale[n]
///   v = float(sum) * factor
///   f = v + bias[n]            (where there is a bias)
///   act(f)
struct FloatEpilogue {
  const Linear& linear;
  float x_scale;
  std::span<const float> w_scale;
  std::span<const float> bias;

  float operator()(std::int64_t n, std::int32_t sum) const;
};

using StoreSum = std::function<void(std::int64_t index, std::int64_t n, std::int32_t sum)>;

/// Calls store(index in y, n, sum) for every element of y, from several threads: the sums over k of x * w.
void for_each_sum(const IntegerRows& x, const IntegerRows& w, const StoreSum& store);

}  // namespace assay::references
