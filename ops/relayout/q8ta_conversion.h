#pragma once

#include "harness/op/op.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// The impl of ops that move values between int8x4 layouts and others (relayout.comp).
Impl tiled_impl(std::function<Program(const BuildContext&)> build,
                std::function<std::optional<std::string>(const ImplPoint&)> excludes);

/// An op from x to y of equal shape, one of them int8x4, the other of real values of the parameter `dtype`.
struct Q8taConversion {
  std::string name;
  std::string summary;
  std::string label;     ///< of its one dispatch
  std::string integers;  ///< which tensor is int8x4, with one scale and zero point for all: "x" or "y"
  std::function<std::vector<Expected>(const Params&, std::span<const HostTensor>)> reference;
};
Op q8ta_conversion(const Q8taConversion& conversion);

}  // namespace assay::ops
