#include "ops/neighbours_test.h"

#include "harness/base/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using Kind = ParamSpec::Kind;
using Overrides = std::map<std::string, Value>;

constexpr std::int64_t most_elements = 1 << 12;

/// `params` with other values for some parameters; those that had their default keep their default.
Params changed(const Op& op, const Params& params, const Overrides& overrides) {
  Params earlier, result;
  for (const ParamSpec& spec : op.params) {
    const Value& old = params.at(spec.name);
    const auto other = overrides.find(spec.name);
    if (other != overrides.end()) {
      result.set(spec.name, other->second);
    } else if (spec.default_for(earlier) == old) {
      result.set(spec.name, *spec.default_for(result));
    } else {
      result.set(spec.name, old);
    }
    earlier.set(spec.name, old);
  }
  return result;
}

bool is_accepted(const Op& op, const Params& params) {
  try {
    for (const ParamSpec& spec : op.params) spec.check(params.at(spec.name));
    op.tensors(params);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Makes the sizes along the axes whose bits are set in `axes` (bit 0: the last) multiples of 4.
Shape to_fours(Shape shape, unsigned axes) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t& size = shape[shape.size() - 1 - i];
    if ((axes >> i & 1U) != 0) size = (size + 3) / 4 * 4;
  }
  return shape;
}

/// Makes the first `dims` sizes 1.
Shape with_ones(Shape shape, std::size_t dims) {
  for (std::size_t i = 0; i < std::min(dims, shape.size()); ++i) shape[i] = 1;
  return shape;
}

std::vector<Value> values_of(const ParamSpec& spec) {
  if (spec.kind == Kind::Boolean) return {false, true};
  return {spec.choices.begin(), spec.choices.end()};
}

/// Calls `use` with every combination of values of the choices and booleans from parameter `next` on.
void each_choice(const Op& op, std::size_t next, Overrides& chosen,
                 const std::function<void(const Overrides&)>& use) {
  if (next == op.params.size()) {
    use(chosen);
    return;
  }
  const ParamSpec& spec = op.params[next];
  if (spec.kind != Kind::Choice && spec.kind != Kind::Boolean) {
    each_choice(op, next + 1, chosen, use);
    return;
  }
  for (const Value& value : values_of(spec)) {
    chosen[spec.name] = value;
    each_choice(op, next + 1, chosen, use);
  }
  chosen.erase(spec.name);
}

/// The shapes of a point: unchanged, with one batch, with one plane; for each of them every choice of W, H
/// and C as multiples of 4. Large ones only unchanged: kernels for tails do not depend on the size of the
/// rest.
std::vector<Overrides> other_shapes(const Op& op, const Params& params) {
  std::vector<Overrides> all(1);
  for (const std::size_t ones : {0, 1, 2}) {
    for (unsigned axes = 0; axes < 8; ++axes) {
      Overrides& shapes = all.emplace_back();
      for (const ParamSpec& spec : op.params) {
        if (spec.kind != Kind::Shape) continue;
        const Shape& shape = params.ints(spec.name);
        if (numel(shape) > most_elements) return {{}};
        shapes[spec.name] = to_fours(with_ones(shape, ones), axes);
      }
    }
  }
  return all;
}

/// The parameters on which shaders can depend, as text: without numbers, scales and zero points, and without
/// integers that have a default, such as the ends of a range.
std::string outline(const Op& op, const Params& params, bool with_choices = true) {
  std::string text;
  for (const ParamSpec& spec : op.params) {
    const bool is_optional = spec.fallback || spec.derive;
    const bool is_number = spec.kind == Kind::Number || spec.kind == Kind::QParams ||
                           (spec.kind == Kind::Integer && is_optional);
    const bool is_choice = spec.kind == Kind::Choice || spec.kind == Kind::Boolean;
    if (!is_number && (with_choices || !is_choice)) text += to_string(params.at(spec.name)) + ' ';
  }
  return text;
}

}  // namespace

std::vector<Case> neighbours(const Op& op, std::span<const Case> cases) {
  std::vector<Case> all;
  std::set<std::string> origins, known;
  const auto add = [&](const Case& origin, Params params) {
    if (!known.insert(outline(op, params)).second || !is_accepted(op, params)) return;
    all.push_back({.op = &op, .impl = origin.impl, .params = std::move(params)});
  };
  for (const Case& test_case : cases) {
    if (test_case.op != &op) continue;
    if (!origins.insert(outline(op, test_case.params, false)).second) continue;
    for (const Overrides& shapes : other_shapes(op, test_case.params)) {
      Overrides chosen = shapes;
      each_choice(op, 0, chosen,
                  [&](const Overrides& values) { add(test_case, changed(op, test_case.params, values)); });
    }
  }
  return all;
}

}  // namespace assay::ops
