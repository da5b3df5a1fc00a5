#pragma once

#include "harness/core/op.h"
#include "harness/core/program.h"
#include "ops/common/tensor_at.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::ops {

/// Moves x to y, of equal shape, by 4 x 4 tiles: shaders/relayout.comp. int8x4, f32 and f16 in any form that
/// can hold them. Throws std::logic_error where relayout_excludes() gives a reason.
Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion = {});

/// Why that kernel cannot move x to y, or nothing.
std::optional<std::string> relayout_excludes(const Physical& x, const Physical& y);

/// Tiles of a workgroup along W, H and C.
using Box = std::array<std::uint32_t, 3>;

/// A box of about `invocations` tiles, a power of two along each axis, less than twice as long as the tensor
/// has tiles. As far as `subgroup` tiles go it is as long as makes accesses to both sides fill whole sectors
/// of memory: x and y wish for so many tiles along each axis, and y comes first. Beyond, it grows along C,
/// then H, then W. Invocations count along W, H, C: growth along C leaves the first subgroup as it was
/// wished.
Box choose_box(const Box& x_wish, const Box& y_wish, const std::array<std::int64_t, 3>& tiles,
               std::uint32_t subgroup, std::uint32_t invocations);

}  // namespace assay::ops
