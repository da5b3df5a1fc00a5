#include "references/linear/linear_dq8ca_q4gsw.h"

#include "references/choose_qparams/choose_qparams.h"
#include "references/linear/linear_grouped.h"

#include <utility>

namespace assay::references {
namespace {

/// Chooses the scale (f32) and zero point (i32) of each row.
std::pair<HostTensor, HostTensor> chosen_qparams(const HostTensor& x) {
  std::vector<std::int64_t> row(x.shape().size(), 1);
  row.back() = -1;
  const ChooseQParams op{block_grid(x.shape(), row), x.dtype(), QParamsRule::PerRow, {-128, 127, 0}};
  std::vector<Expected> chosen = choose_qparams(op, {&x, 1});
  return {std::move(chosen[0].values), std::move(chosen[1].values)};
}

std::vector<Expected> with_qparams(const Linear& linear, const HostTensor& x, const HostTensor& x_scale,
                                   const HostTensor& x_zero_point, std::span<const HostTensor> weights) {
  const std::span<const float> scale = x_scale.as<float>();
  const std::span<const std::int32_t> zero_point = x_zero_point.as<std::int32_t>();
  const auto qparams = [&](std::int64_t row) {
    return QParams{scale[static_cast<std::size_t>(row)], zero_point[static_cast<std::size_t>(row)]};
  };
  return grouped_real_output({linear, quantized_rows(x, qparams), int4_rows(weights[0], EvenNibble::Low),
                              scale, weights[1].as<float>(), bias_of(linear, weights)});
}

}  // namespace

std::vector<Expected> linear_dq8ca_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  if (params.choice("activations") == "given") {
    return with_qparams(linear, inputs[0], inputs[1], inputs[2], inputs.subspan(3));
  }
  const auto [scale, zero_point] = chosen_qparams(inputs[0]);
  return with_qparams(linear, inputs[0], scale, zero_point, inputs.subspan(1));
}

}  // namespace assay::references
