#include "references/q8ta_linear.h"

#include "references/fixed_point.h"
#include "references/linear_integer.h"
#include "references/quantized.h"

namespace assay::references {
namespace {

/// Whatever the epilogue: the sums, and what makes an integer of them.
struct Sums {
  const Linear& linear;
  QParams x, y;
  IntegerRows x_rows, w_rows;
  std::span<const float> w_scale, bias;
};

void store_by_floats(const Sums& sums, std::span<std::int8_t> y) {
  const FloatEpilogue epilogue{sums.linear, sums.x.scale, sums.w_scale, sums.bias};
  const float inverse = 1.0F / sums.y.scale;
  const auto zero_point = static_cast<float>(sums.y.zero_point);
  for_each_sum(sums.x_rows, sums.w_rows, [&](std::int64_t index, std::int64_t n, std::int32_t sum) {
    y[static_cast<std::size_t>(index)] = quantized(epilogue(n, sum), inverse, zero_point);
  });
}

void store_by_integers(const Sums& sums, std::span<std::int8_t> y) {
  const std::vector<FixedPointChannel> channels =
      fixed_point_channels(sums.x, sums.y, sums.w_rows, sums.w_scale, sums.bias);
  for_each_sum(sums.x_rows, sums.w_rows, [&](std::int64_t index, std::int64_t n, std::int32_t sum) {
    const FixedPointChannel& channel = channels[static_cast<std::size_t>(n)];
    y[static_cast<std::size_t>(index)] = requantized(channel, sum, sums.linear.relu, sums.y.zero_point);
  });
}

}  // namespace

std::vector<Expected> q8ta_linear(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const QParams& x = params.qparams("x");
  const Sums sums{linear,
                  x,
                  params.qparams("y"),
                  int8_rows(inputs[0], x.zero_point),
                  int8_rows(inputs[1]),
                  inputs[2].as<float>(),
                  bias_of(linear, inputs)};
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor::uninitialized(DType::I8, linear.y_shape());
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  if (params.choice("epilogue") == "fixed_point") {
    store_by_integers(sums, y);
  } else {
    store_by_floats(sums, y);
  }
  return outputs;
}

}  // namespace assay::references
