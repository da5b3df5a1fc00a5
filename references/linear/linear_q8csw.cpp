#include "references/linear/linear_q8csw.h"

#include "references/linear/linear_real.h"

#include <algorithm>

namespace assay::references {

std::vector<Expected> linear_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, any_depth);
  const std::int8_t* q = inputs[1].as<std::int8_t>().data();
  const RealRows w{linear.n, linear.k,
                   [=, depth = linear.k](std::int64_t n, std::int64_t first, std::int64_t last, double* to) {
                     std::copy(q + n * depth + first, q + n * depth + last, to);
                   }};
  const std::span<const float> w_scale = inputs[2].as<float>();
  const std::vector<double> scale(w_scale.begin(), w_scale.end());
  return real_linear(linear, inputs[0], w, scale, bias_of(linear, inputs));
}

}  // namespace assay::references
