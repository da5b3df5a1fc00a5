#pragma once

#include "harness/op/params.h"

#include <cstdint>
#include <string_view>

namespace assay::references {

/// What an op makes of a value before it is stored.
enum class Activation : std::uint8_t { None, Relu, Relu6, Hardswish };

/// The parameter `activation`.
inline Activation activation_of(const Params& params) {
  const std::string_view name = params.choice("activation");
  if (name == "relu") return Activation::Relu;
  if (name == "relu6") return Activation::Relu6;
  return name == "hardswish" ? Activation::Hardswish : Activation::None;
}

/// f, activated, each step an operation of this type, in this order:
///   relu       max(f, 0)
///   relu6      min(max(f, 0), 6)
///   hardswish  0 where f <= -3, f where f >= 3, else (f * (f + 3)) * r with r = 1 / 6, rounded
/// None makes -0, apart from hardswish of -0 or of an f so small that its steps underflow. A NaN stays one.
template <class Real>
Real activated(Activation activation, Real f) {
  constexpr Real three{3}, six{6};
  switch (activation) {
    case Activation::None:
      return f;
    case Activation::Relu:
      return f <= 0 ? Real{0} : f;
    case Activation::Relu6:
      return f <= 0 ? Real{0} : f >= six ? six : f;
    case Activation::Hardswish:
      break;
  }
  if (f <= -three) return Real{0};
  return f >= three ? f : f * (f + three) * (Real{1} / six);
}

}  // namespace assay::references
