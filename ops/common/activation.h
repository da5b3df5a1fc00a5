#pragma once

#include "harness/op/params.h"
#include "harness/op/program.h"
#include "references/common/activation.h"

#include <string>

namespace assay::ops {

/// The parameter activation of ops with all of them.
inline ParamSpec activation_param() {
  return choice("activation", {"none", "relu", "relu6", "hardswish"})
      .by_default(std::string("none"))
      .says(
          "of the real value f: relu6 is min(max(f, 0), 6); hardswish is f * (f + 3) * (1 / 6), but 0 where "
          "f <= "
          "-3 and f where f >= 3");
}

/// The #define ACTIVATION of shaders/common/activation.glslh.
inline Define activation_define(references::Activation activation) {
  return {"ACTIVATION", std::to_string(static_cast<int>(activation))};
}

}  // namespace assay::ops
