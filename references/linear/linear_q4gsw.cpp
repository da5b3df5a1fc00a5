#include "references/linear/linear_q4gsw.h"

#include "references/linear/linear_real.h"
#include "references/linear/linear_rows.h"

#include <algorithm>

namespace assay::references {
namespace {

/// (nibble - 8) * scale is exact in float64, and so is its product with any x.
struct Weights {
  const Linear& linear;
  IntegerRows nibbles;
  const float* scale;

  void read(std::int64_t n, std::int64_t first, std::int64_t last, double* to) const {
    const std::int16_t* from = nibbles.row(n);
    for (std::int64_t k = first; k < last;) {
      const std::int64_t group = k / linear.group_size;
      const std::int64_t end = std::min(last, (group + 1) * linear.group_size);
      const auto of_group = static_cast<double>(scale[group * linear.n + n]);
      for (; k < end; ++k) *to++ = from[k] * of_group;
    }
  }
};

}  // namespace

std::vector<Expected> linear_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, any_depth);
  const Weights weights{linear, int4_rows(inputs[1], EvenNibble::Low), inputs[2].as<float>().data()};
  const RealRows w{linear.n, linear.k,
                   [&](std::int64_t n, std::int64_t first, std::int64_t last, double* to) {
                     weights.read(n, first, last, to);
                   }};
  const std::vector<double> ones(static_cast<std::size_t>(linear.n), 1.0);
  return real_linear(linear, inputs[0], w, ones, bias_of(linear, inputs));
}

}  // namespace assay::references
