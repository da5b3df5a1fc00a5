#pragma once

#include "harness/commands/points/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>
#include <vector>

namespace assay::app {

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

}  // namespace assay::app
