#pragma once

#include "harness/op/op.h"
#include "harness/tensor/tensor.h"

#include <optional>

namespace assay {

/// How much of an output of integers stands at the ends of its range, where whatever lies beyond was clamped:
/// a wrong sum is as right there as any other.
struct Saturation {
  double share = 0;  ///< of the elements
  double low = 0, high = 0;
};

/// Share of its elements above which an output proves too little (MISTRUSTED). The fill `saturate` puts half
/// of them at the ends, and so does a relu of symmetric data whose zero is the low end: both together are
/// three quarters.
inline constexpr double most_saturated = 0.85;

/// The saturation of expected values where it is above `most_saturated`. The range is that which the op
/// declares for the output (TensorSpec::domain), else the dtype's, of I8 and U8. What is constant or at
/// the ends by formula (TensorSpec::constant_because, ends_because) does not count, nor do outputs of a few
/// elements or of a range of a few integers, which may be at its ends by chance.
std::optional<Saturation> too_saturated(const TensorSpec& spec, const HostTensor& expected);

}  // namespace assay
