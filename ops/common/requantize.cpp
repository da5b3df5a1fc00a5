#include "ops/common/requantize.h"

#include "ops/common/defines.h"

namespace assay::ops {

void add(PushConstants& push, const Requantization& requantization) {
  push.add(std::int64_t{requantization.x.zero_point}).add(requantization.x.scale);
  push.add(1.0F / requantization.y.scale).add(std::int64_t{requantization.y.zero_point});
}

Define rounding_define(const DeviceInfo& device) {
  return {"ROUNDS_TO_EVEN", flag(device.has(Feature::RoundsToEven32))};
}

std::optional<std::string> scale_invalid_reason(const std::string& name, const QParams& qparams) {
  if (qparams.scale >= 0x1p-100F && qparams.scale <= 0x1p100F) return std::nullopt;
  return name + " is " + to_string(Value(qparams)) +
         ", whose scale is not between 2^-100 and 2^100: a step may be infinite, or below 2^-126, where "
         "devices may flush it to zero";
}

}  // namespace assay::ops
