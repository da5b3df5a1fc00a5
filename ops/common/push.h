#pragma once

#include "harness/op/program.h"
#include "ops/common/divider.h"

namespace assay::ops {

/// Appends a `Divider` of shaders/common/indexing.glslh.
inline void add(PushConstants& push, Divider divider) {
  push.add(std::int64_t{divider.multiplier}).add(std::int64_t{divider.shift});
}

}  // namespace assay::ops
