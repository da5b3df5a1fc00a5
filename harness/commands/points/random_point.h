#pragma once

#include "harness/cases/case.h"
#include "harness/commands/points/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::app {

/// The number of elements in all tensors of the case.
std::int64_t elements_of(const Case& test_case);

/// The number of operations that the case needs at least (Work).
std::int64_t operations_of(const Case& test_case);

/// The work of the case; nothing where it cannot be computed: a manifest's `work` may divide by zero at some
/// points.
std::optional<Work> known_work(const Case& test_case);

/// Draws values of an op's parameters from their declarations: kinds, ranges, choices and defaults. A value
/// may follow from those of parameters that were declared earlier, since ops often want equal sizes, divisors
/// or the same number of elements.
class ValueDraw {
 public:
  /// `largest`: sizes are rarely above it, and a shape's elements not much.
  ValueDraw(const Op& op, std::int64_t largest, Draw& draw);

  /// Draws one value for the parameter; its own check may refuse it. `params`: those declared earlier, at
  /// least.
  Value value(const ParamSpec& spec, const Params& params);

 private:
  Value shape(const ParamSpec& spec, const Params& params);
  Value integer(const ParamSpec& spec, const Params& params);
  Value list(const ParamSpec& spec, const Params& params);
  Value number(const ParamSpec& spec);
  Value qparams(const ParamSpec& spec, const Params& params);

  std::int64_t size(std::int64_t most);
  std::int64_t rank(const ParamSpec& spec);
  std::int64_t divisor_of(std::int64_t number);
  std::vector<std::int64_t> new_shape(const ParamSpec& spec);
  std::vector<std::int64_t> broadcast(std::vector<std::int64_t> dims);
  std::vector<std::int64_t> regrouped(std::vector<std::int64_t> dims, std::size_t most_dims);
  std::int64_t entry_for_dim(const ParamSpec& spec, std::int64_t dim);
  float scale(const ParamSpec& spec, const Params& params);
  std::int64_t zero_point(const ParamSpec& spec);

  const Op& op_;
  std::int64_t largest_;
  Draw& draw_;
  double exponent_;  ///< of most scales of the point: where they are far apart, all answers are clamped
};

/// The largest points that are drawn, so that thousands run in a minute.
struct PointLimits {
  std::int64_t elements = 1 << 15;                  ///< of all tensors together
  std::int64_t operations = std::int64_t{1} << 22;  ///< that the CPU's reference does at least
};

/// Draws points of the op's own space from its declarations alone: parameters with their ranges and choices,
/// impls, forms, tunables and fills. What the op or the impl refuses is drawn again, up to a
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
