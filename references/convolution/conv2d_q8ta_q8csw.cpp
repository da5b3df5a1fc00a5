#include "references/convolution/conv2d_q8ta_q8csw.h"

#include "references/common/real_output.h"
#include "references/convolution/convolution_rows.h"

namespace assay::references {

std::vector<Expected> conv2d_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Convolution conv = convolution_params(params, most_depth_with_zero_point);
  const Linear linear = conv.linear_of_group();
  const QParams& qparams = params.qparams("x");
  const IntegerRows x = quantized_rows(inputs[0], [&](std::int64_t) { return qparams; });
  const IntegerRows w = weight_rows(conv, inputs[1]);
  const FloatEpilogue epilogue{linear, qparams.scale, inputs[2].as<float>(), bias_of(linear, inputs)};
  return real_output(conv.real, conv.y_shape(), [&](auto y) {
    for_each_sum(conv, x, w, [&](std::int64_t index, std::int64_t channel, std::int32_t sum) {
      store(y[static_cast<std::size_t>(index)], epilogue(channel, sum));
    });
  });
}

}  // namespace assay::references
