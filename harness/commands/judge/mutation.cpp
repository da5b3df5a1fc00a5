#include "harness/commands/judge/mutation.h"

#include "harness/commands/points/drawn_size.h"

#include <functional>
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
    const std::vector<std::int64_t> others{size + 1, size > 1 ? size - 1 : 1, size > 1 ? size / 2 : 1,
                                           size * 2, size * 3};
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

}  // namespace

Params mutated(const Op& op, const Params& params, Draw& draw) {
  return Mutation(op, params, draw).result();
}

}  // namespace assay::app
