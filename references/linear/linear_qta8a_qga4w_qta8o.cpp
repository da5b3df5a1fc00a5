#include "references/linear/linear_qta8a_qga4w_qta8o.h"

#include "references/common/exact_float.h"
#include "references/linear/linear_qta8a_qga4w.h"

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

Expected banded_output(const Shape& shape) {
  Expected y{.values = HostTensor::uninitialized(DType::I8, shape)};
  const auto elements = static_cast<std::size_t>(y.values.numel());
  y.magnitude.resize(elements);
  y.unrounded.resize(elements);
  return y;
}

/// Quantizes elements with one scale and zero point.
struct Quantizer {
  const Linear& linear;
  double inverse, zero_point;

  Quantizer(const Linear& op, const QParams& y)
      : linear(op), inverse(static_cast<double>(1.0F / y.scale)), zero_point(y.zero_point) {}

  void store(Expected& y, std::size_t i, const GroupedSum& element) const {
    const double steps = linear.activated(element.value) * inverse;
    const double scaled = std::isnan(steps) ? 0 : steps;
    const double moved = std::clamp(std::nearbyint(scaled) + zero_point, -128.0, 127.0);
    y.values.as<std::int8_t>()[i] = static_cast<std::int8_t>(moved);
    y.unrounded[i] = scaled + zero_point;
    const bool rounds = std::isfinite(steps) && !(element.is_exact && is_float32(steps));
    y.magnitude[i] = rounds ? static_cast<float>(element.magnitude * inverse) : 0;
  }
};

}  // namespace

std::vector<Expected> linear_qta8a_qga4w_qta8o(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const Quantizer quantizer(linear, params.qparams("y"));
  std::vector<Expected> outputs{banded_output(linear.y_shape())};
  for_each_grouped_sum(qta8a_qga4w(linear, inputs), [&](std::int64_t index, const GroupedSum& element) {
    quantizer.store(outputs[0], static_cast<std::size_t>(index), element);
  });
  return outputs;
}

}  // namespace assay::references
