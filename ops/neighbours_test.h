#pragma once

#include "harness/cases/case.h"

#include <span>
#include <vector>

namespace assay::ops {

/// Points in addition to those of `op`'s cases, for further variants of its shaders. Every choice and boolean
/// takes each of its values, and small shapes are also tried with one batch or one plane (2D textures hold no
/// more) and with sizes that are multiples of 4. Defaults that depend on other parameters follow them. Points
/// that the op refuses are left out, and one of several points that differ only in numbers is kept.
std::vector<Case> neighbours(const Op& op, std::span<const Case> cases);

}  // namespace assay::ops
