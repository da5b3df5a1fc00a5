#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <optional>
#include <string>

namespace assay::ops {

/// The scales and zero points of the two int8 tensors between which values are requantized, from x to y.
struct Requantization {
  QParams x, y;
};

/// Appends the `Requantization` of shaders/common/requantize.glslh.
void add(PushConstants& push, const Requantization& requantization);

/// The #define ROUNDS_TO_EVEN of shaders/common/rounding.glslh for this device.
Define rounding_define(const DeviceInfo& device);

/// Why a kernel cannot requantize from or to this scale exactly on every device, or nothing. With scales
/// between 2^-100 and 2^100 no step is a NaN, and no value that a device may flush to zero affects an
/// integer: below 2^-126 it is less than 2^-26 of a scale.
std::optional<std::string> scale_invalid_reason(const std::string& name, const QParams& qparams);

}  // namespace assay::ops
