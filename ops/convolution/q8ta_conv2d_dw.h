#pragma once

#include "harness/op/op.h"

namespace assay::ops {

/// The impl `direct` of q8ta_conv2d_dw: an invocation computes several pixels of y, four channels of each.
Impl depthwise_direct();

}  // namespace assay::ops
