#include "harness/commands/judge/variation.h"

#include "harness/commands/points/draw.h"
#include "harness/commands/points/saturated.h"
#include "harness/commands/points/with_params.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace assay::app {
namespace {

using Kind = ParamSpec::Kind;

/// Whether the parameter counts something, unlike an axis or an end of a range of values.
bool is_count(const ParamSpec& spec) {
  return spec.kind == Kind::Integer && spec.min_integer >= 1;
}

bool has_sizes(const ParamSpec& spec) {
  return spec.kind == Kind::Shape || spec.kind == Kind::Ints || is_count(spec);
}

/// Calls `change` with each size of the parameter.
void each_size(Value& value, const std::function<void(std::int64_t&)>& change) {
  if (auto* number = std::get_if<std::int64_t>(&value)) {
    change(*number);
  } else if (auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (std::int64_t& size : *list) change(size);
  }
}

class Mutation {
 public:
  Mutation(const Op& op, Params params, Draw& draw) : op_(op), params_(std::move(params)), draw_(draw) {}

  Params result() {
    switch (draw_.below(4)) {
      case 0:
        replace_one_size();
        break;
      case 1:
        multiply_all_shapes();
        break;
      default:
        draw_some_anew();
    }
    return params_;
  }

 private:
  void draw_some_anew() {
    for (const ParamSpec& spec : op_.params) {
      if (spec.kind != Kind::Shape && !is_count(spec)) continue;
      change(spec, [this](std::int64_t& size) {
        if (!draw_.one_in(3)) size = draw_.one_in(3) ? near(size) : drawn_size(draw_);
      });
    }
    if (draw_.one_in(3)) change_a_list();
  }

  /// Kernels, strides, blocks: small numbers, and 0 or -1 may mean something.
  void change_a_list() {
    for (const ParamSpec& spec : op_.params) {
      if (spec.kind != Kind::Ints) continue;
      change(spec, [this](std::int64_t& size) {
        if (size >= 0 && draw_.one_in(2)) size = static_cast<std::int64_t>(draw_.below(6));
      });
    }
  }

  void replace_one_size() {
    std::set<std::int64_t> sizes;
    for (const ParamSpec& spec : op_.params) {
      if (has_sizes(spec)) change(spec, [&](std::int64_t& size) { sizes.insert(size); });
    }
    if (sizes.empty()) return;
    const std::int64_t old = draw_.one_of(std::vector(sizes.begin(), sizes.end()));
    const std::int64_t now = drawn_size(draw_);
    for (const ParamSpec& spec : op_.params) {
      if (has_sizes(spec)) change(spec, [&](std::int64_t& size) { size = size == old ? now : size; });
    }
  }

  /// Shapes with equal numbers of elements keep equal numbers.
  void multiply_all_shapes() {
    const std::int64_t by = draw_.one_of(std::vector<std::int64_t>{2, 3, 5, 7, 11});
    for (const ParamSpec& spec : op_.params) {
      if (spec.kind != Kind::Shape || !params_.has(spec.name)) continue;
      auto dims = params_.ints(spec.name);
      if (!dims.empty()) dims[draw_.below(dims.size())] *= by;
      params_.set(spec.name, dims);
    }
  }

  std::int64_t near(std::int64_t size) {
    const std::vector<std::int64_t> others{saturated_sum(size, 1), size > 1 ? size - 1 : 1,
                                           size > 1 ? size / 2 : 1, saturated_product(size, 2),
                                           saturated_product(size, 3)};
    return draw_.one_of(others);
  }

  void change(const ParamSpec& spec, const std::function<void(std::int64_t&)>& how) {
    if (!params_.has(spec.name)) return;
    Value value = params_.at(spec.name);
    each_size(value, how);
    params_.set(spec.name, value);
  }

  const Op& op_;
  Params params_;
  Draw& draw_;
};

float scaled(float scale, double by) {
  const double product = static_cast<double>(scale) * by;
  return static_cast<float>(std::clamp(product, 0x1p-60, 0x1p60));
}

/// Changes of scales, zero points and other values that are no sizes.
class ValueChange {
 public:
  ValueChange(const Case& like, Params& params, Draw& draw) : like_(like), params_(params), draw_(draw) {}

  /// Any values that the declarations allow.
  void far() {
    // All scales change together: if one did alone, most outputs would be clamped, which shows nothing.
    const double all = std::exp2(draw_.between(-6, 6));
    for (const ParamSpec& spec : like_.op->params) {
      if (spec.kind == Kind::QParams && draw_.one_in(2)) {
        set_qparams(spec, all * std::exp2(draw_.between(-1, 1)), any_zero_point(spec));
      } else if (spec.kind == Kind::QParams) {
        set_qparams(spec, all, params_.qparams(spec.name).zero_point);
      } else if (spec.kind == Kind::Number && draw_.one_in(2)) {
        set_number(spec, far_factor(spec), draw_.one_in(3));
      } else if (spec.kind == Kind::Integer && spec.min_integer < 1 && draw_.one_in(4)) {
        set_integer(spec);
      } else if (spec.kind == Kind::Choice && draw_.one_in(4)) {
        params_.set(spec.name, draw_.one_of(spec.choices));
      } else if (spec.kind == Kind::Boolean && draw_.one_in(3)) {
        params_.set(spec.name, !params_.boolean(spec.name));
      }
    }
  }

  /// Values near the old ones. Equal scales and zero points stay equal: kernels need not requantize then.
  void near() {
    std::vector<std::pair<QParams, QParams>> changes;
    for (const ParamSpec& spec : like_.op->params) {
      if (spec.kind == Kind::QParams) {
        const QParams old = params_.qparams(spec.name);
        const auto equal = std::ranges::find(changes, old, [](const auto& change) { return change.first; });
        if (equal != changes.end()) {
          params_.set(spec.name, equal->second);
          continue;
        }
        const std::int64_t zero_point = old.zero_point + static_cast<std::int64_t>(draw_.below(21)) - 10;
        set_qparams(spec, draw_.between(0.8, 1.25),
                    std::clamp(zero_point, spec.zero_point_min, spec.zero_point_max));
        changes.emplace_back(old, params_.qparams(spec.name));
      } else if (spec.kind == Kind::Number) {
        set_number(spec, draw_.between(0.8, 1.25), false);
      }
    }
  }

 private:
  /// A positive number is a least scale: it matters only where it is as large as the scales of the data.
  double far_factor(const ParamSpec& spec) {
    if (spec.min_number <= 0) return std::pow(10, draw_.between(-3, 3));
    return std::pow(10, draw_.one_in(3) ? draw_.between(-2, 4) : draw_.between(4, 7));
  }

  std::int64_t any_zero_point(const ParamSpec& spec) {
    if (draw_.one_in(4)) return params_.qparams(spec.name).zero_point;
    const auto count = static_cast<std::uint64_t>(spec.zero_point_max - spec.zero_point_min + 1);
    return spec.zero_point_min + static_cast<std::int64_t>(draw_.below(count));
  }

  void set_qparams(const ParamSpec& spec, double factor, std::int64_t zero_point) {
    const QParams& old = params_.qparams(spec.name);
    params_.set(spec.name, QParams{scaled(old.scale, factor), static_cast<std::int32_t>(zero_point)});
  }

  void set_number(const ParamSpec& spec, double factor, bool negated) {
    const double now = params_.number(spec.name) * (negated ? -factor : factor);
    const bool is_allowed = now >= spec.min_number && now <= spec.max_number && (now > 0 || !spec.positive);
    if (is_allowed) params_.set(spec.name, now);
  }

  /// An axis or an end of a range.
  void set_integer(const ParamSpec& spec) {
    const std::int64_t old = params_.integer(spec.name);
    // Unsigned, since the least integer has no signed magnitude.
    const std::uint64_t magnitude =
        old < 0 ? 0 - static_cast<std::uint64_t>(old) : static_cast<std::uint64_t>(old);
    const std::uint64_t reach = magnitude / 2 + 1;
    const auto step = static_cast<std::int64_t>(draw_.below(2 * reach + 1) - reach);
    params_.set(spec.name, std::clamp(saturated_sum(old, step), spec.min_integer, spec.max_integer));
  }

  const Case& like_;
  Params& params_;
  Draw& draw_;
};

void draw_forms(Case& one, Draw& draw) {
  for (std::size_t i = 0; i < one.forms.size(); ++i) {
    const std::vector<Form>& accepted = one.tensors[i].forms;
    if (accepted.size() < 2 || draw.one_in(2)) continue;
    one.forms[i] = draw.one_of(accepted);
    std::erase(one.conv2d.tensors, i);
  }
}

std::int64_t drawn_value(const Tunable& tunable, Draw& draw) {
  if (!tunable.allowed.empty()) return draw.one_of(tunable.allowed);
  const double low = std::log2(static_cast<double>(std::max<std::int64_t>(tunable.min, 1)));
  const double high = std::log2(static_cast<double>(std::max<std::int64_t>(tunable.max, 1)));
  return std::clamp(saturated_round(std::exp2(draw.between(low, high))), tunable.min, tunable.max);
}

void draw_tunables(Case& one, Draw& draw) {
  for (const Tunable& tunable : one.impl->tunables) {
    if (draw.one_in(2)) one.tune[tunable.name] = drawn_value(tunable, draw);
  }
}

void draw_fills(Case& one, const FillPool& pool, Draw& draw) {
  for (auto& [tensor, fill] : one.fills.edit()) {
    const auto known = pool.find(tensor);
    if (known != pool.end() && draw.one_in(2)) fill = draw.one_of(known->second);
  }
}

/// Calls `change` with each size of the parameters: of shapes, and integers and lists that count something.
void each_size_of(const Op& op, Params& params, const std::function<void(std::int64_t&)>& change) {
  for (const ParamSpec& spec : op.params) {
    const bool is_count = spec.kind == Kind::Integer && spec.min_integer >= 1;
    if (!params.has(spec.name) || (spec.kind != Kind::Shape && spec.kind != Kind::Ints && !is_count))
      continue;
    Value value = params.at(spec.name);
    if (auto* number = std::get_if<std::int64_t>(&value)) change(*number);
    if (auto* list = std::get_if<std::vector<std::int64_t>>(&value)) std::ranges::for_each(*list, change);
    params.set(spec.name, value);
  }
}

std::int64_t near_size(std::int64_t size, Draw& draw) {
  std::int64_t unit = std::min<std::int64_t>(size & -size, 64);
  while (unit > 8 && size / unit < 8) unit /= 2;
  const double wanted = static_cast<double>(size) * draw.between(0.72, 1.35) / static_cast<double>(unit);
  return saturated_product(unit, std::max<std::int64_t>(1, saturated_round(wanted)));
}

/// Sizes below 8 are kernels, factors, images, or single rows, for which impls are chosen.
Params at_near_sizes(const Case& like, Draw& draw) {
  constexpr std::int64_t least = 8;
  Params params = like.params;
  std::map<std::int64_t, std::int64_t> now;  // equal sizes stay equal, as ops may demand it
  each_size_of(*like.op, params, [&](std::int64_t& size) {
    if (size < least) return;
    const auto [place, is_new] = now.try_emplace(size, size);
    if (is_new && !draw.one_in(3)) place->second = near_size(size, draw);
    size = place->second;
  });
  return params;
}

/// Multiplies one dim of each shape, of those of 8 and more, by the same factor: shapes with equal numbers of
/// elements keep equal numbers.
Params at_stretched_shapes(const Case& like, Draw& draw) {
  const std::vector<std::int64_t> eighths{6, 7, 9, 10};
  const std::int64_t factor = draw.one_of(eighths);
  Params params = like.params;
  for (const ParamSpec& spec : like.op->params) {
    if (spec.kind != Kind::Shape || !params.has(spec.name)) continue;
    std::vector<std::int64_t> dims = params.ints(spec.name);
    std::vector<std::size_t> divisible;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] % 8 == 0) divisible.push_back(i);
    }
    if (divisible.empty()) continue;
    std::int64_t& dim = dims[draw.one_of(divisible)];
    dim = dim / 8 * factor;
    params.set(spec.name, dims);
  }
  return params;
}

/// Multiplies one dim of each shape, or one size of any parameter.
Params with_more(const Case& one, Draw& draw) {
  Params params = one.params;
  const auto factor = static_cast<std::int64_t>(draw.below(5)) + 2;
  if (draw.one_in(2)) {
    for (const ParamSpec& spec : one.op->params) {
      if (spec.kind != Kind::Shape || !params.has(spec.name)) continue;
      std::vector<std::int64_t> dims = params.ints(spec.name);
      if (!dims.empty()) dims[draw.below(dims.size())] *= factor;
      params.set(spec.name, dims);
    }
    return params;
  }
  std::size_t sizes = 0;
  each_size_of(*one.op, params, [&](std::int64_t&) { ++sizes; });
  if (sizes == 0) return params;
  const std::uint64_t chosen = draw.below(sizes);
  const std::int64_t more = draw.one_in(3) ? 1 : 0;
  std::uint64_t number = 0;
  each_size_of(*one.op, params, [&](std::int64_t& size) {
    if (number++ == chosen && size > 0) size = saturated_sum(saturated_product(size, factor), more);
  });
  return params;
}

std::int64_t largest_tensor_of(const Case& one) {
  std::int64_t most = 0;
  for (const TensorSpec& tensor : *one.tensors) most = std::max(most, numel(tensor.shape));
  return most;
}

}  // namespace

Params mutated(const Op& op, const Params& params, Draw& draw) {
  return Mutation(op, params, draw).result();
}

FillPool fill_pool(std::span<const Case* const> cases) {
  FillPool pool;
  for (const Case* one : cases) {
    for (const auto& [tensor, fill] : *one->fills) {
      const bool shows_something =
          fill.kind != FillKind::Npy && fill.kind != FillKind::Constant && fill.kind != FillKind::Zero;
      std::vector<FillSpec>& known = pool[tensor];
      if (shows_something && std::ranges::find(known, fill) == known.end()) known.push_back(fill);
    }
  }
  std::erase_if(pool, [](const auto& entry) { return entry.second.empty(); });
  return pool;
}

std::optional<Case> varied(const Case& like, const FillPool& fills, Draw& draw) {
  Params params = draw.one_in(5) ? *like.params : mutated(*like.op, like.params, draw);
  if (!draw.one_in(3)) ValueChange(like, params, draw).far();
  std::optional<Case> made = with_params(like, std::move(params));
  if (!made) return made;
  if (draw.one_in(2)) draw_forms(*made, draw);
  if (draw.one_in(4)) draw_tunables(*made, draw);
  if (draw.one_in(2)) draw_fills(*made, fills, draw);
  return made;
}

std::optional<Case> enlarged(const Case& one, std::int64_t least, Draw& draw) {
  Case made = one;
  for (int step = 0; step < 200; ++step) {
    const std::int64_t elements = largest_tensor_of(made);
    if (elements >= least && elements <= 4 * least) return made;
    if (elements > 4 * least) return std::nullopt;
    const std::optional<Case> larger = with_params(made, with_more(made, draw));
    if (larger && largest_tensor_of(*larger) <= 4 * least) made = *larger;
  }
  return std::nullopt;
}

std::optional<Case> nearby(const Case& like, std::span<const Case* const> others, Draw& draw) {
  Params params = draw.one_in(3) ? at_stretched_shapes(like, draw) : at_near_sizes(like, draw);
  ValueChange(like, params, draw).near();
  std::optional<Case> made = with_params(like, std::move(params));
  if (!made || others.empty() || !draw.one_in(4)) return made;
  const Case& other = *others[draw.below(others.size())];
  if (other.impl != like.impl) return made;
  take_forms(other, *made);
  made->tune = other.tune;
  return made;
}

}  // namespace assay::app
