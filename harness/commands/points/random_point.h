#pragma once

#include "harness/cases/case.h"
#include "harness/commands/points/draw.h"
#include "harness/op/op.h"

#include <cstdint>
#include <optional>

namespace assay::app {

/// The largest points that are drawn, so that thousands run in a minute.
struct PointLimits {
  std::int64_t elements = 1 << 15;                  ///< of all tensors together
  std::int64_t operations = std::int64_t{1} << 22;  ///< that the CPU's reference does at least
};

/// Draws points of the op's own space from its declarations alone: parameters with their ranges and choices
/// (value_draw.h), impls, forms, tunables and fills. What the op or the impl refuses is drawn again, up to a
/// fixed number of times; nothing is returned if the op accepted nothing. Equal draws give equal points on
/// every device. Of the case, `id`, `data_key` and what else a file decides are not set.
class RandomPoints {
 public:
  /// `op` must outlive this and the cases.
  explicit RandomPoints(const Op& op, PointLimits limits = {}) : op_(op), limits_(limits) {}

  std::optional<Case> next(Draw& draw) const;

  /// A point with the impl, tunables, forms, choices and booleans of `base`, and new sizes, numbers and
  /// fills. Most of these run the kernels that `base` compiled, and so a thousand times faster. Nothing is
  /// returned if there is none.
  std::optional<Case> sibling(const Case& base, Draw& draw) const;

 private:
  std::optional<Case> with_drawn_params(const Case* base, Draw& draw) const;
  bool is_within_limits(const Case& drawn) const;

  const Op& op_;
  PointLimits limits_;
};

}  // namespace assay::app
