#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"
#include "references/linear.h"
#include "references/real_products.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = act(sum over k of x * w * scale[n] + bias[n]) in float64, bounded; the magnitude is
/// (sum over k of |x||w|) * |scale[n]| + |bias[n]|. No bias: nothing is added. x is f32 or f16.
std::vector<Expected> real_linear(const Linear& linear, const HostTensor& x, const RealRows& w,
                                  std::span<const double> scale, std::span<const float> bias);

}  // namespace assay::references
