#include "harness/commands/tune/tuning_points.h"

#include "harness/commands/points/written_cases.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/tensor/form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace assay::app {
namespace {

using Kind = ParamSpec::Kind;

bool is_list(const ParamSpec& param) {
  return param.kind == Kind::Shape || param.kind == Kind::Ints;
}

/// The whole numbers of a parameter; none of other kinds.
std::vector<std::int64_t> numbers_of(const ParamSpec& param, const Params& params) {
  if (param.kind == Kind::Integer) return {params.integer(param.name)};
  return is_list(param) ? params.ints(param.name) : std::vector<std::int64_t>{};
}

std::vector<std::int64_t> place_of(const Case& one) {
  std::vector<std::int64_t> at;
  for (const ParamSpec& param : one.op->params) {
    const std::vector<std::int64_t> numbers = numbers_of(param, one.params);
    at.insert(at.end(), numbers.begin(), numbers.end());
  }
  return at;
}

std::map<std::string, TuningCondition> words_of(const Case& one) {
  std::map<std::string, TuningCondition> words;
  for (const ParamSpec& param : one.op->params) {
    if (param.kind == Kind::Choice || param.kind == Kind::Boolean)
      words[param.name] = {.ranges = {}, .word = to_string(one.params->at(param.name))};
  }
  return words;
}

std::map<std::string, std::string> forms_of(const Case& one) {
  std::map<std::string, std::string> forms;
  for (std::size_t i = 0; i < one.tensors->size(); ++i) {
    if (one.tensors[i].forms.size() > 1) forms[one.tensors[i].name] = to_string(one.forms[i]);
  }
  return forms;
}

/// The ranks of shapes and lists: places of one class have the same numbers.
std::vector<std::size_t> ranks_of(const Case& one) {
  std::vector<std::size_t> ranks;
  for (const ParamSpec& param : one.op->params) {
    if (is_list(param)) ranks.push_back(one.params->ints(param.name).size());
  }
  return ranks;
}

bool is_of_class(const TuningClass& group, const TuningPoint& point) {
  const Case& one = point.base;
  return group.op == one.op && group.caches == one.caches && group.impl == one.impl &&
         group.words == words_of(one) && group.forms == forms_of(one) &&
         ranks_of(group.points.front().base) == ranks_of(one);
}

/// The case as it is tuned, once for each cache that it is timed with; none if it is not.
std::vector<TuningPoint> points_of(const Case& given, const DeviceInfo& device) {
  if (!given.tune.empty() || given.op->chain || !is_writable(given)) return {};
  const RowPlan plan = plan_of_case(given, device);
  if (plan.not_run || plan.made.impl->tunables.empty()) return {};
  TuningPoint point{.base = given, .at = place_of(given)};
  point.base.impl = plan.made.impl;
  point.base.mode = Mode::Perf;
  if (given.caches != Caches::Both) return {point};
  TuningPoint cold = point;
  point.base.caches = Caches::Hot;
  cold.base.caches = Caches::Cold;
  cold.is_also_hot = true;
  return {std::move(point), std::move(cold)};
}

std::vector<std::optional<std::int64_t>> values_of(const Tunable& tunable) {
  constexpr std::uint64_t few = 8;
  // Unsigned, and no step beyond `max`: the range may be that of 64 bits.
  const std::uint64_t width =
      static_cast<std::uint64_t>(tunable.max) - static_cast<std::uint64_t>(tunable.min);
  std::set<std::int64_t> values(tunable.allowed.begin(), tunable.allowed.end());
  if (values.empty() && width < few) {
    for (std::int64_t i = 0; i <= static_cast<std::int64_t>(width); ++i) values.insert(tunable.min + i);
  } else if (values.empty()) {
    values = {tunable.min, tunable.max};
    for (int exponent = 0; exponent < 63 && (std::int64_t{1} << exponent) < tunable.max; ++exponent) {
      if (const std::int64_t power = std::int64_t{1} << exponent; power > tunable.min) values.insert(power);
    }
  }
  std::vector<std::optional<std::int64_t>> made{std::nullopt};
  made.insert(made.end(), values.begin(), values.end());
  return made;
}

void add_point(std::vector<TuningClass>& classes, TuningPoint point) {
  const auto found =
      std::ranges::find_if(classes, [&](const TuningClass& group) { return is_of_class(group, point); });
  if (found == classes.end()) {
    const Case& base = point.base;
    TuningClass made{.op = base.op,
                     .impl = base.impl,
                     .words = words_of(base),
                     .forms = forms_of(base),
                     .caches = base.caches};
    made.points.push_back(std::move(point));
    classes.push_back(std::move(made));
  } else if (std::ranges::find(found->points, point.at, &TuningPoint::at) == found->points.end()) {
    found->points.push_back(std::move(point));
  }
}

}  // namespace

std::map<std::string, TuningCondition> TuningClass::conditions(std::span<const ValueRange> box) const {
  std::map<std::string, TuningCondition> made = words;
  std::size_t next = 0;
  for (const ParamSpec& param : op->params) {
    const std::size_t count = numbers_of(param, points.front().base.params).size();
    if (param.kind != Kind::Integer && !is_list(param)) continue;
    const std::span<const ValueRange> own = box.subspan(next, count);
    made[param.name] = {.ranges = {own.begin(), own.end()}, .word = {}, .is_list = is_list(param)};
    next += count;
  }
  return made;
}

std::string TuningClass::text() const {
  std::string text = op->name + " " + impl->name;
  for (const auto& [name, condition] : words) text += fmt::format(" {}={}", name, condition.word);
  for (const auto& [tensor, form] : forms) text += fmt::format(" {}={}", tensor, form);
  if (caches == Caches::Cold) text += " cold";
  return text;
}

std::string place_text(const TuningPoint& point) {
  std::vector<std::string> texts;
  for (const ParamSpec& param : point.base.op->params) {
    if (param.kind == Kind::Integer || is_list(param))
      texts.push_back(fmt::format("{}={}", param.name, to_string(point.base.params->at(param.name))));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::vector<TuningClass> tuning_classes(std::span<const Case* const> cases, const DeviceInfo& device) {
  std::vector<TuningClass> classes;
  for (const Case* one : cases) {
    for (TuningPoint& point : points_of(*one, device)) add_point(classes, std::move(point));
  }
  return classes;
}

TuningSpace tuning_space(const TuningPoint& point, const DeviceInfo& device,
                         const std::vector<std::string>& tunables) {
  TuningSpace space;
  for (const Tunable& tunable : point.base.impl->tunables) {
    if (tunables.empty() || std::ranges::find(tunables, tunable.name) != tunables.end())
      space.axes.push_back({.tunable = tunable.name, .values = values_of(tunable)});
  }
  const TuningSpace axes = space;
  space.may_run = [axes, point, device](const Candidate& candidate) {
    Case tuned = with_tune(point, tune_of(axes, candidate));
    tuned.invalid = why_invalid(tuned);
    return !plan_of_case(tuned, device).not_run;
  };
  return space;
}

Tune tune_of(const TuningSpace& space, const Candidate& candidate) {
  Tune tune;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    const TuningAxis& axis = space.axes.at(i);
    if (const std::optional<std::int64_t> value = axis.values.at(candidate[i])) tune[axis.tunable] = *value;
  }
  return tune;
}

Case with_tune(const TuningPoint& point, Tune tune) {
  Case made = point.base;
  made.tune = std::move(tune);
  return made;
}

std::string candidate_text(const Tune& tune) {
  return tune.empty() ? "defaults" : tune_text(tune);
}

}  // namespace assay::app
