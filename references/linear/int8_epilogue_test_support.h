#pragma once

#include "harness/op/params.h"

#include <cstdint>
#include <optional>

namespace assay::test {

/// The int8 that a sum becomes with the parameters x, y, activation and epilogue: the steps one after the
/// other, as the headers of references state them. float32 steps are float32, those of the fixed point long
/// double.
double plain_int8(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias);

}  // namespace assay::test
