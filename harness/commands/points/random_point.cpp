#include "harness/commands/points/random_point.h"

#include "harness/base/error.h"
#include "harness/commands/points/case_cost.h"
#include "harness/commands/points/value_draw.h"
#include "harness/commands/points/with_params.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace assay::app {
namespace {

constexpr int most_draws = 300;   ///< of all parameters of a point
constexpr int most_repairs = 30;  ///< of one draw: a refused parameter is drawn again
constexpr int most_choices = 12;  ///< of impl and forms for the same parameters

/// Draws a parameter's value until its own check accepts it.
void draw_param(const ParamSpec& spec, ValueDraw& values, Params& params) {
  for (int i = 0; i < most_repairs; ++i) {
    const Value drawn = values.value(spec, params);
    try {
      spec.check(drawn);
    } catch (const ParameterError&) {
      continue;
    }
    params.set(spec.name, drawn);
    return;
  }
  if (const std::optional<Value> fallback = spec.default_for(params)) params.set(spec.name, *fallback);
}

/// Whether a parameter has few values, each of which may be another variant of a kernel.
bool is_kept(const ParamSpec& spec) {
  return spec.kind == ParamSpec::Kind::Choice || spec.kind == ParamSpec::Kind::Boolean;
}

/// `base`: the point whose choices are kept; null: none.
Params drawn_params(const Op& op, const Case* base, ValueDraw& values, Draw& draw) {
  Params params;
  for (const ParamSpec& spec : op.params) {
    if (base != nullptr && is_kept(spec)) {
      params.set(spec.name, base->params->at(spec.name));
      continue;
    }
    const std::optional<Value> fallback = draw.one_in(2) ? spec.default_for(params) : std::optional<Value>();
    if (fallback) {
      params.set(spec.name, *fallback);
    } else {
      draw_param(spec, values, params);
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
  const std::vector<std::int64_t> ends{tunable.min, tunable.max, low + 1, std::max(tunable.max - 1, low)};
  if (draw.one_in(4)) return std::clamp(draw.one_of(ends), tunable.min, tunable.max);
  double exponent = draw.between(std::log2(static_cast<double>(low)),
                                 std::log2(static_cast<double>(std::max<std::int64_t>(tunable.max, 1))));
  if (draw.one_in(2)) exponent = std::round(exponent);
  return std::clamp(static_cast<std::int64_t>(std::lround(std::exp2(exponent))), tunable.min, tunable.max);
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

bool RandomPoints::is_within_limits(const Case& drawn) const {
  return elements_of(drawn) <= limits_.elements && operations_of(drawn) <= limits_.operations;
}

std::optional<Case> RandomPoints::with_drawn_params(const Case* base, Draw& draw) const {
  if (op_.answers_of_case) return std::nullopt;  // there are no answers for other points
  // Most points are small, since they are quick and sizes at which kernels go wrong are small.
  const double exponent = draw.between(0, std::log2(static_cast<double>(limits_.elements)));
  ValueDraw values(op_, static_cast<std::int64_t>(std::exp2(exponent)), draw);
  Params params = drawn_params(op_, base, values, draw);
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
      } else {
        draw_param(*refused, values, params);
      }
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
