#include "harness/commands/points/random_point.h"

#include "harness/base/error.h"
#include "harness/commands/points/draw.h"
#include "harness/commands/points/saturated.h"
#include "harness/commands/points/with_params.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

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

/// Whether a list may have that many entries.
bool may_have(const ParamSpec& spec, std::size_t entries) {
  return entries >= static_cast<std::size_t>(spec.min_rank) &&
         entries <= static_cast<std::size_t>(spec.max_rank);
}

constexpr int most_draws = 300;   ///< of all parameters of a point
constexpr int most_repairs = 30;  ///< of one draw: a refused parameter is drawn again
constexpr int most_choices = 12;  ///< of impl and forms for the same parameters

/// Draws a parameter's value until its own check accepts it. Returns whether there is one: it or the default.
bool draw_param(const ParamSpec& spec, ValueDraw& values, Params& params) {
  for (int i = 0; i < most_repairs; ++i) {
    const Value drawn = values.value(spec, params);
    try {
      spec.check(drawn);
    } catch (const ParameterError&) {
      continue;
    }
    params.set(spec.name, drawn);
    return true;
  }
  const std::optional<Value> fallback = spec.default_for(params);
  if (fallback) params.set(spec.name, *fallback);
  return fallback.has_value();
}

/// Whether a parameter has few values, each of which may be another variant of a kernel.
bool is_kept(const ParamSpec& spec) {
  return spec.kind == ParamSpec::Kind::Choice || spec.kind == ParamSpec::Kind::Boolean;
}

/// Nothing if no value was found for a parameter. `base`: the point whose choices are kept; null: none.
std::optional<Params> drawn_params(const Op& op, const Case* base, ValueDraw& values, Draw& draw) {
  Params params;
  for (const ParamSpec& spec : op.params) {
    if (base != nullptr && is_kept(spec)) {
      params.set(spec.name, base->params->at(spec.name));
      continue;
    }
    const std::optional<Value> fallback = draw.one_in(2) ? spec.default_for(params) : std::optional<Value>();
    if (fallback) {
      params.set(spec.name, *fallback);
    } else if (!draw_param(spec, values, params)) {
      return std::nullopt;
    }
  }
  return params;
}

/// The parameter that an error is about: "x" for "x.scale".
const ParamSpec* refused_param(const Op& op, const ParameterError& error) {
  return op.find_param(error.parameter().substr(0, error.parameter().find('.')));
}

std::int64_t drawn_tunable(const Tunable& tunable, Draw& draw) {
  if (!tunable.allowed.empty()) return draw.one_of(tunable.allowed);
  const std::int64_t low = std::max<std::int64_t>(tunable.min, 1);
  const std::vector<std::int64_t> ends{tunable.min, tunable.max, saturated_sum(low, 1),
                                       std::max(saturated_sum(tunable.max, -1), low)};
  if (draw.one_in(4)) return std::clamp(draw.one_of(ends), tunable.min, tunable.max);
  double exponent = draw.between(std::log2(static_cast<double>(low)),
                                 std::log2(static_cast<double>(std::max<std::int64_t>(tunable.max, 1))));
  if (draw.one_in(2)) exponent = std::round(exponent);
  return std::clamp(saturated_round(std::exp2(exponent)), tunable.min, tunable.max);
}

void draw_impl(Case& one, Draw& draw) {
  one.impl = &one.op->impls[draw.below(one.op->impls.size())];
  one.tune.clear();
  if (!draw.one_in(2)) return;
  for (const Tunable& tunable : one.impl->tunables) {
    if (draw.one_in(3)) one.tune[tunable.name] = drawn_tunable(tunable, draw);
  }
}

/// One form for all tensors that accept it, a form for each tensor, or the defaults.
void draw_forms(Case& one, Draw& draw) {
  one.forms.clear();
  const std::uint64_t way = draw.below(5);
  const Form shared = draw.one_of(draw.one_of(*one.tensors).forms);
  for (const TensorSpec& tensor : *one.tensors) {
    Form form = tensor.forms.front();
    if (way < 2 && std::ranges::find(tensor.forms, shared) != tensor.forms.end()) form = shared;
    if (way == 2 || way == 3) form = draw.one_of(tensor.forms);
    one.forms.push_back(form);
  }
}

/// Bounds hold for sums of numbers: they do not say what becomes of NaN, infinities and values at which a
/// partial sum overflows, and the order of the summands is the kernel's.
bool is_bounded(const Case& one) {
  return std::ranges::any_of(*one.tensors, [](const TensorSpec& tensor) {
    return !tensor.is_input() && tensor.output_class == OutputClass::Bounded;
  });
}

std::vector<FillKind> possible_fills(const Case& one) {
  std::vector<FillKind> kinds{FillKind::Normal, FillKind::Uniform, FillKind::Ties,     FillKind::Saturate,
                              FillKind::Zero,   FillKind::Wide,    FillKind::Constant, FillKind::Outlier};
  if (!is_bounded(one))
    kinds.insert(kinds.end(), {FillKind::Special, FillKind::Mixed, FillKind::Nan, FillKind::Ends});
  return kinds;
}

/// Normal data, one fill for all inputs, or one for each.
void draw_fills(Case& one, Draw& draw) {
  const std::vector<FillKind> kinds = possible_fills(one);
  std::map<std::string, FillSpec>& fills = one.fills.edit();
  fills.clear();
  const std::uint64_t way = draw.below(3);
  const FillKind shared = draw.one_of(kinds);
  for (const TensorSpec& tensor : *one.tensors) {
    if (!tensor.is_input()) continue;
    FillSpec fill;
    if (way == 1) fill.kind = shared;
    if (way == 2) fill.kind = draw.one_of(kinds);
    fills[tensor.name] = fill;
  }
}

}  // namespace

std::int64_t elements_of(const Case& test_case) {
  std::int64_t sum = 0;
  for (const TensorSpec& tensor : *test_case.tensors) sum += numel(tensor.shape);
  return sum;
}

std::int64_t operations_of(const Case& test_case) {
  return test_case.op->work(test_case.params, test_case.tensors).operations;
}

std::optional<Work> known_work(const Case& test_case) try {
  return test_case.op->work(test_case.params, test_case.tensors);
} catch (const Error&) {
  return std::nullopt;
}

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
  // Unsigned, since the whole 64-bit range is wider than a signed integer, and one more is 0.
  const std::uint64_t width =
      static_cast<std::uint64_t>(spec.max_integer) - static_cast<std::uint64_t>(spec.min_integer);
  const bool is_narrow = width < 100;
  if (is_narrow && draw_.one_in(2))
    return spec.min_integer + static_cast<std::int64_t>(draw_.below(width + 1));
  if (spec.min_integer < 1) {
    if (draw_.one_in(8)) return draw_.one_in(2) ? spec.min_integer : spec.max_integer;
    const std::int64_t any =
        draw_.one_in(2) ? draw_.one_of(usual) : static_cast<std::int64_t>(draw_.below(9)) - 4;
    return std::clamp(any, spec.min_integer, spec.max_integer);
  }
  const Ints sizes = sizes_before(op_, spec, params);
  const std::uint64_t way = draw_.below(8);
  std::int64_t drawn = saturated_sum(spec.min_integer, static_cast<std::int64_t>(draw_.below(8)));
  if (way < 2) drawn = size(largest_);
  if (way == 2) drawn = saturated_product(spec.min_integer, size(spec.min_integer > 1 ? 64 : 8));
  if (way == 3 && !sizes.empty()) drawn = draw_.one_of(sizes);
  if (way == 4 && !sizes.empty()) drawn = saturated_product(draw_.one_of(sizes), size(4));
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
  const bool is_of_dims = !shapes.empty() && may_have(spec, shapes.back().size());
  if (is_of_dims) entries.resize(shapes.back().size());
  const std::uint64_t way = draw_.below(is_of_dims ? 3 : 1);
  const std::int64_t least = std::max<std::int64_t>(spec.min_integer, -1);
  const std::uint64_t reach = draw_.one_of(std::vector<std::uint64_t>{1, 2, 5, 12});
  for (std::int64_t& entry : entries)  // kernels, strides: mostly small numbers
    entry = std::min(saturated_sum(least, static_cast<std::int64_t>(draw_.below(reach))), spec.max_integer);
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

bool RandomPoints::is_within_limits(const Case& drawn) const {
  return elements_of(drawn) <= limits_.elements && operations_of(drawn) <= limits_.operations;
}

std::optional<Case> RandomPoints::with_drawn_params(const Case* base, Draw& draw) const {
  if (op_.answers_of_case) return std::nullopt;  // there are no answers for other points
  // Most points are small, since they are quick and sizes at which kernels go wrong are small.
  const double exponent = draw.between(0, std::log2(static_cast<double>(limits_.elements)));
  ValueDraw values(op_, static_cast<std::int64_t>(std::exp2(exponent)), draw);
  std::optional<Params> drawn = drawn_params(op_, base, values, draw);
  if (!drawn) return std::nullopt;
  Params params = *std::move(drawn);
  for (int repair = 0; repair < most_repairs; ++repair) {
    try {
      Case made;
      made.op = &op_;
      made.tensors = op_.tensors(params);
      made.params = params;
      if (is_within_limits(made)) return made;
      return std::nullopt;
    } catch (const ParameterError& error) {
      const ParamSpec* refused = refused_param(op_, error);
      if (refused == nullptr) return std::nullopt;
      // Where no value fits, it is another parameter that is to blame.
      if (draw.one_in(4)) refused = &draw.one_of(op_.params);
      if (base != nullptr && is_kept(*refused)) return std::nullopt;
      const std::optional<Value> fallback = refused->default_for(params);
      if (fallback && draw.one_in(4)) {
        params.set(refused->name, *fallback);
      } else if (!draw_param(*refused, values, params) && !params.has(refused->name)) {
        return std::nullopt;
      }
    } catch (const Error&) {  // a tensor with too many elements
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Case> RandomPoints::next(Draw& draw) const {
  for (int attempt = 0; attempt < most_draws; ++attempt) {
    std::optional<Case> made = with_drawn_params(nullptr, draw);
    if (!made) continue;
    draw_fills(*made, draw);
    for (int choice = 0; choice < most_choices; ++choice) {
      draw_impl(*made, draw);
      draw_forms(*made, draw);
      if (!why_invalid(*made)) return made;
    }
  }
  return std::nullopt;
}

std::optional<Case> RandomPoints::sibling(const Case& base, Draw& draw) const {
  for (int attempt = 0; attempt < most_repairs; ++attempt) {
    std::optional<Case> made = with_drawn_params(&base, draw);
    if (!made) continue;
    draw_fills(*made, draw);
    made->impl = base.impl;
    made->tune = base.tune;
    take_forms(base, *made);
    if (!why_invalid(*made)) return made;
  }
  return std::nullopt;
}

}  // namespace assay::app
