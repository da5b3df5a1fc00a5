#pragma once

#include "harness/op/op.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// The impl of ops that move values between int8x4 layouts and others (shaders/relayout/relayout.comp).
Impl tiled_impl(std::function<Program(const BuildContext&)> build,
                std::function<std::optional<std::string>(const ImplPoint&)> invalid_reason);

/// An op that converts x to y of equal shape. One of them is int8x4; the other has real values of the
/// parameter `dtype`.
struct Q8taConversion {
  std::string name;
  std::string summary;
  std::string label;     ///< label of its one dispatch
  std::string integers;  ///< the tensor that is int8x4, with one scale and zero point for all: "x" or "y"
  std::function<std::vector<Expected>(const Params&, std::span<const HostTensor>)> reference;
};
Op q8ta_conversion(const Q8taConversion& conversion);

}  // namespace assay::ops
