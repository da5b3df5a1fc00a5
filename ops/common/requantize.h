#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <optional>
#include <string>

namespace assay::ops {

/// From the scale and zero point of one int8 tensor to those of another.
struct Requantization {
  QParams x, y;
};

/// Appends a `Requantization` of shaders/common/requantize.glslh.
void add(PushConstants& push, const Requantization& requantization);

/// ROUNDS_TO_EVEN of shaders/common/rounding.glslh.
Define rounding_define(const DeviceInfo& device);

/// Why a kernel cannot requantize from or to such a scale exactly on every device, or nothing. Between 2^-100
/// and 2^100 no step is a NaN, and none that a device may flush to zero reaches an integer: below 2^-126 it
/// is less than 2^-26 of a scale.
std::optional<std::string> scale_excludes(const std::string& name, const QParams& qparams);

}  // namespace assay::ops
