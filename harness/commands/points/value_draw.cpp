#include "harness/commands/points/value_draw.h"

#include "harness/commands/points/drawn_size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace assay::app {
namespace {

using Kind = ParamSpec::Kind;
using Ints = std::vector<std::int64_t>;

/// The lists that were declared before `spec`: shapes, and others if there is no shape.
std::vector<Ints> lists_before(const Op& op, const ParamSpec& spec, const Params& params) {
  std::vector<Ints> shapes;
  for (const ParamSpec& earlier : op.params) {
    if (earlier.name == spec.name) break;
    if (earlier.kind == Kind::Shape && params.has(earlier.name)) shapes.push_back(params.ints(earlier.name));
  }
  return shapes;
}

/// Sizes that were declared before `spec`.
Ints sizes_before(const Op& op, const ParamSpec& spec, const Params& params) {
  Ints sizes;
  for (const ParamSpec& earlier : op.params) {
    if (earlier.name == spec.name) break;
    if (!params.has(earlier.name)) continue;
    if (earlier.kind == Kind::Integer && earlier.min_integer >= 1)
      sizes.push_back(params.integer(earlier.name));
    if (earlier.kind == Kind::Shape) std::ranges::copy(params.ints(earlier.name), std::back_inserter(sizes));
  }
  return sizes;
}

}  // namespace

ValueDraw::ValueDraw(const Op& op, std::int64_t largest, Draw& draw)
    : op_(op), largest_(largest), draw_(draw), exponent_(draw.between(-10, 1)) {}

Value ValueDraw::value(const ParamSpec& spec, const Params& params) {
  switch (spec.kind) {
    case Kind::Shape:
      return shape(spec, params);
    case Kind::Integer:
      return integer(spec, params);
    case Kind::Number:
      return number(spec);
    case Kind::Boolean:
      return draw_.one_in(2);
    case Kind::Choice:
      return draw_.one_of(spec.choices);
    case Kind::Ints:
      return list(spec, params);
    case Kind::QParams:
      return qparams(spec, params);
  }
  return {};
}

std::int64_t ValueDraw::size(std::int64_t most) {
  const std::int64_t drawn = drawn_size(draw_);
  if (drawn <= most) return drawn;
  return 1 +
         static_cast<std::int64_t>(draw_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1))));
}

std::int64_t ValueDraw::rank(const ParamSpec& spec) {
  return spec.min_rank + static_cast<std::int64_t>(
                             draw_.below(static_cast<std::uint64_t>(spec.max_rank - spec.min_rank + 1)));
}

std::int64_t ValueDraw::divisor_of(std::int64_t number) {
  Ints divisors;
  for (std::int64_t i = 1; i <= std::min<std::int64_t>(number, 1024); ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors.empty() ? 1 : draw_.one_of(divisors);
}

/// The dims are drawn in any order, so that each may be the large one.
Ints ValueDraw::new_shape(const ParamSpec& spec) {
  Ints dims(static_cast<std::size_t>(rank(spec)), 1);
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  draw_.shuffle(order);
  std::int64_t left = largest_;
  for (const std::size_t i : order) {
    dims[i] = size(left);
    left = std::max<std::int64_t>(left / dims[i], 1);
  }
  return dims;
}

/// The shape with some dims of 1, or with dims more or less at the front.
Ints ValueDraw::broadcast(Ints dims) {
  if (draw_.one_in(4) && dims.size() > 1) dims.erase(dims.begin());
  for (std::int64_t& dim : dims) {
    if (draw_.one_in(4)) dim = 1;
  }
  return dims;
}

/// A shape with the same number of elements.
Ints ValueDraw::regrouped(Ints dims, std::size_t most_dims) {
  for (int step = 0; step < 3; ++step) {
    if (draw_.one_in(2) && dims.size() > 1) {
      const std::size_t i = draw_.below(dims.size() - 1);
      dims[i] *= dims[i + 1];
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (dims.size() < most_dims && !dims.empty()) {
      const std::size_t i = draw_.below(dims.size());
      const std::int64_t part = divisor_of(dims[i]);
      dims[i] /= part;
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(i), part);
    } else {
      draw_.shuffle(dims);
    }
  }
  return dims;
}

Value ValueDraw::shape(const ParamSpec& spec, const Params& params) {
  const std::vector<Ints> earlier = lists_before(op_, spec, params);
  if (earlier.empty() || draw_.one_in(5)) return new_shape(spec);
  const Ints& like = draw_.one_of(earlier);
  return draw_.one_in(2) ? broadcast(like) : regrouped(like, static_cast<std::size_t>(spec.max_rank));
}

Value ValueDraw::integer(const ParamSpec& spec, const Params& params) {
  static const Ints usual{-32769, -32768, -256, -129, -128, -127, -9,  -8,  -7,  -2,    -1,    0,
                          1,      2,      3,    7,    8,    15,   127, 128, 255, 32767, 32768, 65536};
  const bool is_narrow = spec.max_integer - spec.min_integer < 100;
  if (is_narrow && draw_.one_in(2)) {
    const auto count = static_cast<std::uint64_t>(spec.max_integer - spec.min_integer + 1);
    return spec.min_integer + static_cast<std::int64_t>(draw_.below(count));
  }
  if (spec.min_integer < 1) {
    if (draw_.one_in(8)) return draw_.one_in(2) ? spec.min_integer : spec.max_integer;
    const std::int64_t any =
        draw_.one_in(2) ? draw_.one_of(usual) : static_cast<std::int64_t>(draw_.below(9)) - 4;
    return std::clamp(any, spec.min_integer, spec.max_integer);
  }
  const Ints sizes = sizes_before(op_, spec, params);
  const std::uint64_t way = draw_.below(8);
  std::int64_t drawn = spec.min_integer + static_cast<std::int64_t>(draw_.below(8));
  if (way < 2) drawn = size(largest_);
  if (way == 2) drawn = spec.min_integer * size(8);
  if (way == 3 && !sizes.empty()) drawn = draw_.one_of(sizes);
  if (way == 4 && !sizes.empty()) drawn = draw_.one_of(sizes) * size(4);
  if (way >= 6 && !sizes.empty()) drawn = divisor_of(draw_.one_of(sizes));
  return std::clamp(drawn, spec.min_integer, spec.max_integer);
}

/// An entry that says something about a dim of that size: a part of it, or all of it.
std::int64_t ValueDraw::entry_for_dim(const ParamSpec& spec, std::int64_t dim) {
  if (spec.min_integer < 0 && draw_.one_in(4)) return -1;
  return draw_.one_in(4) ? dim : divisor_of(dim);
}

Value ValueDraw::list(const ParamSpec& spec, const Params& params) {
  const std::vector<Ints> shapes = lists_before(op_, spec, params);
  Ints entries(static_cast<std::size_t>(rank(spec)), 0);
  if (!shapes.empty()) entries.resize(shapes.back().size());
  const std::uint64_t way = draw_.below(shapes.empty() ? 1 : 3);
  const std::int64_t least = std::max<std::int64_t>(spec.min_integer, -1);
  const std::uint64_t reach = draw_.one_of(std::vector<std::uint64_t>{1, 2, 5});
  for (std::int64_t& entry : entries)  // kernels, strides: small numbers
    entry = std::min(least + static_cast<std::int64_t>(draw_.below(reach)), spec.max_integer);
  if (way == 1) {
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = entry_for_dim(spec, shapes.back()[i]);
  } else if (way == 2) {
    std::iota(entries.begin(), entries.end(), std::int64_t{0});
    draw_.shuffle(entries);
  }
  return entries;
}

Value ValueDraw::number(const ParamSpec& spec) {
  static const std::vector<double> usual{0, 1, -1, 0.5, -2, 3, 1e-3, 1e3, 0x1p-20, 0x1p20};
  const bool is_bounded_below = std::isfinite(spec.min_number);
  const bool is_bounded_above = std::isfinite(spec.max_number);
  if (is_bounded_below && draw_.one_in(10)) return spec.min_number;
  if (is_bounded_above && draw_.one_in(10)) return spec.max_number;
  if (draw_.one_in(2)) return draw_.one_of(usual);
  const double size = std::pow(10, draw_.between(-7, 7));
  return draw_.one_in(3) ? -size : size;
}

/// Mostly a scale near the point's others; now and then a power of two, which makes exact ties, or an extreme
/// one.
float ValueDraw::scale(const ParamSpec& spec, const Params& params) {
  for (const ParamSpec& earlier : op_.params) {
    if (earlier.name == spec.name) break;
    if (earlier.kind == Kind::QParams && params.has(earlier.name) && draw_.one_in(6))
      return params.qparams(earlier.name).scale;
  }
  double exponent = exponent_ + draw_.between(-2, 2);
  if (draw_.one_in(6)) exponent = draw_.between(-100, 100);
  if (draw_.one_in(4)) exponent = std::round(exponent);
  if (draw_.one_in(40)) return draw_.one_in(2) ? 0x1p-126F : std::numeric_limits<float>::max();
  return static_cast<float>(std::exp2(exponent));
}

std::int64_t ValueDraw::zero_point(const ParamSpec& spec) {
  const std::int64_t low = spec.zero_point_min;
  const std::int64_t high = spec.zero_point_max;
  const Ints usual{low, low + 1, high, high - 1, 0, 0};
  if (draw_.one_in(2)) return std::clamp(draw_.one_of(usual), low, high);
  return low + static_cast<std::int64_t>(draw_.below(static_cast<std::uint64_t>(high - low + 1)));
}

Value ValueDraw::qparams(const ParamSpec& spec, const Params& params) {
  return QParams{scale(spec, params), static_cast<std::int32_t>(zero_point(spec))};
}

}  // namespace assay::app
