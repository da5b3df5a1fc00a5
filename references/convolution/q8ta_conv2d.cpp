#include "references/convolution/q8ta_conv2d.h"

#include "references/convolution/convolution_rows.h"
#include "references/linear/int8_epilogue.h"

namespace assay::references {

std::vector<Expected> q8ta_conv2d(const Params& params, std::span<const HostTensor> inputs) {
  const Convolution conv = convolution_params(params, most_depth_with_zero_point);
  const Linear linear = conv.linear_of_group();
  const IntegerRows x = int8_rows(inputs[0], params.qparams("x").zero_point);
  const IntegerRows w = weight_rows(conv, inputs[1]);
  const Int8Epilogue epilogue(params, linear, w, inputs[2].as<float>(), bias_of(linear, inputs));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor::uninitialized(DType::I8, conv.y_shape());
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  for_each_sum(conv, x, w, [&](std::int64_t index, std::int64_t channel, std::int32_t sum) {
    y[static_cast<std::size_t>(index)] = epilogue(channel, sum);
  });
  return outputs;
}

}  // namespace assay::references
