#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"
#include "references/common/real_output.h"
#include "references/linear/linear.h"
#include "references/linear/real_products.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// The float64 epilogue of a sum of x * w and of its magnitude, the sum of |x||w|. y becomes act(sum *
/// scale[n] + bias[n]) with the magnitude * |scale[n]| + |bias[n]|. Without a bias nothing is added.
struct RealEpilogue {
  const Linear& linear;
  std::span<const double> scale;
  std::span<const float> bias;

  void set(BoundedOutput& y, std::int64_t index, std::int64_t n, double sum, double magnitude) const;
};

/// y = act(sum over k of x * w * scale[n] + bias[n]) in float64, bounded; the magnitude is (sum over k of
/// |x||w|) * |scale[n]| + |bias[n]|. Without a bias nothing is added. x is f32 or f16.
std::vector<Expected> real_linear(const Linear& linear, const HostTensor& x, const RealRows& w,
                                  std::span<const double> scale, std::span<const float> bias);

}  // namespace assay::references
