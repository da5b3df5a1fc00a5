#pragma once

#include "harness/op/program.h"

#include <cstdint>

namespace assay::ops {

/// Division by a number that a shader knows only at run time: `divide` in shaders/common/indexing.glslh.
struct Divider {
  std::uint32_t multiplier = 0;  ///< 0 stands for division by 1
  std::uint32_t shift = 0;
};

/// The divider for quotients n / divisor with n < 2^31. Throws std::logic_error unless 1 <= divisor < 2^31.
Divider divider(std::int64_t divisor);

/// Appends a `Divider` of shaders/common/indexing.glslh.
inline void add(PushConstants& push, Divider divider) {
  push.add(std::int64_t{divider.multiplier}).add(std::int64_t{divider.shift});
}

}  // namespace assay::ops
