#include "references/linear/linear_qta8a_qga4w.h"

namespace assay::references {

GroupedLinear qta8a_qga4w(const Linear& linear, std::span<const HostTensor> inputs) {
  return {linear,
          int8_rows(inputs[0], inputs[2].as<std::int32_t>()),
          int4_rows(inputs[3], EvenNibble::High, inputs[5]),
          inputs[1].as<float>(),
          inputs[4].as<float>(),
          bias_of(linear, inputs)};
}

std::vector<Expected> linear_qta8a_qga4w(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  return grouped_real_output(qta8a_qga4w(linear, inputs));
}

}  // namespace assay::references
