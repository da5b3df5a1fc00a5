#include "references/linear/int8_epilogue.h"

#include "references/common/quantized.h"

namespace assay::references {

Int8Epilogue::Int8Epilogue(const Params& params, const Linear& linear, const IntegerRows& w,
                           std::span<const float> w_scale, std::span<const float> bias)
    : floats_{linear, params.qparams("x").scale, w_scale, bias},
      y_(params.qparams("y")),
      inverse_(1.0F / y_.scale) {
  if (params.choice("epilogue") == "fixed_point") {
    channels_ = fixed_point_channels(params.qparams("x"), y_, w, w_scale, bias);
  }
}

std::int8_t Int8Epilogue::operator()(std::int64_t n, std::int32_t sum) const {
  if (channels_.empty()) return quantized(floats_(n, sum), inverse_, static_cast<float>(y_.zero_point));
  return requantized(channels_[static_cast<std::size_t>(n)], sum, floats_.linear.relu, y_.zero_point);
}

}  // namespace assay::references
