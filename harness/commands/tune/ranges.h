#pragma once

#include "harness/base/statistics.h"
#include "harness/cases/tuning/tuning.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace assay::app {

// From what is best at single shapes to ranges of shapes: a pure function of measured ratios.

/// One shape of an op, and how long candidates take there.
struct MeasuredShape {
  std::vector<std::int64_t> at;  ///< its whole-number parameters, in an order that all shapes share
  /// The time divided by that of the built-in defaults, by candidate. Candidate 0 is the defaults themselves
  /// and need not be here. A candidate that is not here cannot run at the shape, or is wrong.
  std::map<std::size_t, Ratio> ratios;
};

/// A part of the space of shapes in which one candidate is best.
struct TunedRange {
  std::vector<ValueRange> box;  ///< one per parameter
  std::size_t candidate = 0;
  double ratio = 1;                      ///< geometric mean over its shapes
  double ratio_low = 1, ratio_high = 1;  ///< lowest and highest end of their intervals
  std::vector<std::size_t> shapes;       ///< indices of its shapes
};

struct RangeLimits {
  /// One candidate serves several shapes if it takes no more than this, in percent, longer at each of them
  /// than what is best there; where the interval of the ratio is wider, its half width counts.
  double same_pct = 1;
  double least_gain_pct = 1;  ///< a candidate must be better than the defaults by more than this
};

/// Divides the space so that each part has one candidate: the whole space if one is as good as the best at
/// all shapes and clearly better than the defaults, else both sides of the cut, between two neighbouring
/// shapes along one parameter, that costs the least, and so on. A cut lies at the geometric mean of its
/// neighbours, and the outer ends are the outermost shapes divided and multiplied by the square root of 2.
/// The parts do not overlap. A part has candidate 0 if nothing is clearly better there: by more than the
/// limit, with the geometric mean of the intervals' upper ends below 1, and with no shape at which it is
/// clearly slower.
std::vector<TunedRange> tuned_ranges(std::span<const MeasuredShape> shapes, const RangeLimits& limits = {});

/// For each shape, how much longer it takes, in percent, with what the ranges of all other shapes give it
/// than with its own best candidate. A shape outside of all of them, and one at which that candidate cannot
/// run, has the defaults.
std::vector<double> left_out_pct(std::span<const MeasuredShape> shapes, const RangeLimits& limits = {});

}  // namespace assay::app
