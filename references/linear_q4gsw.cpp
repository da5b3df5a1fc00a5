#include "references/linear_q4gsw.h"

#include "references/linear_real.h"
#include "references/linear_rows.h"

namespace assay::references {

/// A nibble less 8 times its scale is a float64, exactly, and so is its product with any x.
std::vector<Expected> linear_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, any_depth);
  const IntegerRows nibbles = int4_rows(inputs[1], EvenNibble::Low);
  const float* w_scale = inputs[2].as<float>().data();
  RealRows w{linear.n, linear.k, {}};
  w.read = [&](std::int64_t n, std::int64_t first, std::int64_t last, double* to) {
    for (std::int64_t k = first; k < last; ++k) {
      const auto scale = static_cast<double>(w_scale[k / linear.group_size * linear.n + n]);
      to[k - first] = nibbles.row(n)[k] * scale;
    }
  };
  const std::vector<double> ones(static_cast<std::size_t>(linear.n), 1.0);
  return real_linear(linear, inputs[0], w, ones, bias_of(linear, inputs));
}

}  // namespace assay::references
