#pragma once

#include "harness/op/expected.h"
#include "references/linear/linear.h"
#include "references/linear/linear_rows.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::references {

/// A linear op on integers in which groups of w have one scale each, and rows of x do, too. In float64:
///   int_g = sum over k of group g of x * w   (minus their zero points; exact)
///   y = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n])
/// Sums of integers are exact, so an impl's error grows with the integers that it scales, groups or parts of
/// them, and not with |x||w|. Impls scale sums of 8 or more neighbours along K, which groups do not split:
/// the magnitude is (sum over blocks of 8 of w_scale[g, n] * |int_block|) * x_scale[m] + |bias[n]|.
struct GroupedLinear {
  const Linear& linear;
  IntegerRows x, w;
  std::span<const float> x_scale;  ///< [rows of x]
  std::span<const float> w_scale;  ///< [groups, N]
  std::span<const float> bias;     ///< [N] or empty
};

/// One element of y, before relu.
struct GroupedSum {
  double value = 0;
  double magnitude = 0;
  /// Whether float32 operations in the order above, blocks in any order, round nothing.
  bool is_exact = false;
};

/// Calls store(index in y, element) for each element, from several threads.
void for_each_grouped_sum(const GroupedLinear& grouped,
                          const std::function<void(std::int64_t, const GroupedSum&)>& store);

/// The output y of dtype `linear.real`, bounded.
std::vector<Expected> grouped_real_output(const GroupedLinear& grouped);

}  // namespace assay::references
