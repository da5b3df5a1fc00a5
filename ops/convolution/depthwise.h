#pragma once

#include "harness/op/op.h"

namespace assay::ops {

/// `direct` of q8ta_conv2d_dw: an invocation computes some pixels of y, four channels of each.
Impl depthwise_direct();

}  // namespace assay::ops
