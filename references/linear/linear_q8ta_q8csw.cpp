#include "references/linear/linear_q8ta_q8csw.h"

#include "references/common/real_output.h"
#include "references/linear/linear_integer.h"

namespace assay::references {

std::vector<Expected> linear_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const QParams& qparams = params.qparams("x");
  const IntegerRows x = quantized_rows(inputs[0], [&](std::int64_t) { return qparams; });
  const IntegerRows w = int8_rows(inputs[1]);
  const FloatEpilogue epilogue{linear, qparams.scale, inputs[2].as<float>(), bias_of(linear, inputs)};
  return real_output(linear.real, linear.y_shape(), [&](auto y) {
    for_each_sum(x, w, [&](std::int64_t index, std::int64_t n, std::int32_t sum) {
      store(y[static_cast<std::size_t>(index)], epilogue(n, sum));
    });
  });
}

}  // namespace assay::references
