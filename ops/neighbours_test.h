#pragma once

#include "harness/cases/case.h"

#include <span>
#include <vector>

namespace assay::ops {

/// Points beside those that the cases of `op` name, for further variants of its shaders: every choice and
/// boolean takes each of its values, and small shapes are also tried with one batch or one plane (2D textures
/// hold no more) and with sizes that are multiples of 4. Defaults that depend on other parameters follow
/// them. What the op refuses is left out, and of points that differ in numbers alone one is kept.
std::vector<Case> neighbours(const Op& op, std::span<const Case> cases);

}  // namespace assay::ops
