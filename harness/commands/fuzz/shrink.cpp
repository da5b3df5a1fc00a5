#include "harness/commands/fuzz/shrink.h"

#include "harness/commands/points/with_params.h"
#include "harness/commands/points/written_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay::app {
namespace {

using Kind = ParamSpec::Kind;
using Ints = std::vector<std::int64_t>;

bool is_count(const ParamSpec& spec) {
  return spec.kind == Kind::Integer && spec.min_integer >= 1;
}

/// Smaller numbers, the smallest first: a search for the least one that still fails takes few rounds. Some
/// have the same remainder by 8, on which faults in tails depend.
Ints smaller(std::int64_t size, std::int64_t least) {
  std::set<std::int64_t> all{least, size / 2, size - size / 4, size - size / 8, size - 1};
  if (size > 4) all.insert({2, 3, 4, 5});
  if (size > 16) all.insert({size % 8, size % 8 + 8, size / 16 * 8 + size % 8, size - 8});
  Ints kept;
  std::ranges::copy_if(all, std::back_inserter(kept),
                       [&](std::int64_t one) { return one >= least && one < size; });
  return kept;
}

/// Numbers of the same sign that are easier to read.
std::vector<double> simpler(double number) {
  std::vector<double> all{0, 1};
  for (const double size : {1.0, 2.0, 10.0, 0.5, 0.1}) all.push_back(std::copysign(size, number));
  if (number != 0 && std::isfinite(number)) {
    const double digit = std::pow(10, std::floor(std::log10(std::abs(number))));
    all.push_back(std::round(number / digit) * digit);
  }
  return all;
}

class Simplifications {
 public:
  explicit Simplifications(const Case& of) : of_(of) {}

  std::vector<Edit> all() {
    settings();
    for (const ParamSpec& spec : of_.op->params) param(spec);
    fewer_dims();
    equal_sizes();
    pairs_of_shapes();
    return std::move(edits_);
  }

 private:
  void add(std::string place, std::function<std::optional<Case>(const Case&)> apply) {
    edits_.push_back({std::move(place), std::move(apply)});
  }

  void add_change(std::string place, std::function<void(Case&)> change) {
    add(std::move(place), [change = std::move(change)](const Case& one) {
      Case made = one;
      change(made);
      return std::optional(std::move(made));
    });
  }

  /// Sets one parameter.
  void add_value(const std::string& name, Value value) {
    if (value == of_.params->at(name)) return;
    add("parameter " + name, [name, value = std::move(value)](const Case& one) {
      Params params = one.params;
      params.set(name, value);
      return with_params(one, std::move(params));
    });
  }

  /// What is not a parameter.
  void settings() {
    if (of_.impl != of_.op->default_impl()) {
      add_change("impl", [](Case& one) {
        one.impl = one.op->default_impl();
        one.tune.clear();
      });
    }
    if (!of_.tune.empty()) add_change("tune", [](Case& one) { one.tune.clear(); });
    for (const auto& [name, value] : of_.tune)
      add_change("tune " + name, [name = name](Case& one) { one.tune.erase(name); });
    add_change("fills", [](Case& one) {
      for (auto& [tensor, fill] : one.fills.edit()) fill = {};
    });
    for (const auto& [tensor, fill] : *of_.fills) {
      if (fill != FillSpec{})
        add_change("fill " + tensor, [tensor = tensor](Case& one) { one.fills.edit()[tensor] = {}; });
    }
    add_change("forms", [](Case& one) {
      for (std::size_t i = 0; i < one.forms.size(); ++i) default_form(one, i);
    });
    for (std::size_t i = 0; i < of_.forms.size(); ++i)
      add_change(fmt::format("form {}", i), [i](Case& one) { default_form(one, i); });
  }

  static void default_form(Case& one, std::size_t tensor) {
    if (tensor >= one.forms.size() || one.tensors[tensor].forms.empty()) return;
    one.forms[tensor] = one.tensors[tensor].forms.front();
    std::erase(one.conv2d.tensors, tensor);
  }

  void param(const ParamSpec& spec) {
    if (const std::optional<Value> fallback = spec.default_for(of_.params)) add_value(spec.name, *fallback);
    const Value& now = of_.params->at(spec.name);
    switch (spec.kind) {
      case Kind::Shape:
      case Kind::Ints:
        return list(spec, std::get<Ints>(now));
      case Kind::Integer:
        return integer(spec, std::get<std::int64_t>(now));
      case Kind::Number:
        for (const double simple : simpler(std::get<double>(now))) add_value(spec.name, simple);
        return;
      case Kind::Boolean:
        return add_value(spec.name, false);
      case Kind::Choice:
        return add_value(spec.name, spec.choices.front());
      case Kind::QParams:
        return qparams(spec, std::get<QParams>(now));
    }
  }

  void integer(const ParamSpec& spec, std::int64_t now) {
    for (const std::int64_t size : smaller(now, is_count(spec) ? spec.min_integer : 0))
      add_value(spec.name, size);
    if (now < 0) add_value(spec.name, std::int64_t{-1});
    if (!is_count(spec)) add_value(spec.name, std::int64_t{0});
  }

  void list(const ParamSpec& spec, const Ints& now) {
    const std::int64_t least = spec.kind == Kind::Shape ? 1 : std::max<std::int64_t>(spec.min_integer, 0);
    for (std::size_t i = 0; i < now.size(); ++i) {
      for (const std::int64_t size : smaller(now[i], least)) {
        add(fmt::format("entry {} of {}", i, spec.name), [name = spec.name, i, size](const Case& one) {
          Params params = one.params;
          Ints entries = params.ints(name);
          if (i >= entries.size()) return std::optional<Case>();
          entries[i] = size;
          params.set(name, entries);
          return with_params(one, std::move(params));
        });
      }
    }
  }

  void qparams(const ParamSpec& spec, QParams now) {
    add_value(spec.name, QParams{1, 0});
    add_value(spec.name, QParams{now.scale, 0});
    add_value(spec.name, QParams{1, now.zero_point});
    for (const ParamSpec& other : of_.op->params) {
      if (other.kind == Kind::QParams && other.name != spec.name)
        add_value(spec.name, of_.params->qparams(other.name));
    }
    const auto scale = static_cast<double>(now.scale);
    const auto power = static_cast<float>(std::exp2(std::round(std::log2(scale))));
    const double digit = std::pow(10, std::floor(std::log10(scale)));
    const auto short_scale = static_cast<float>(std::round(scale / digit) * digit);
    for (const float simple : {power, short_scale}) {
      if (std::isfinite(simple) && simple > 0) add_value(spec.name, QParams{simple, now.zero_point});
    }
    for (const std::int32_t zero_point : {1, now.zero_point / 2}) {
      if (zero_point >= spec.zero_point_min && zero_point <= spec.zero_point_max)
        add_value(spec.name, QParams{now.scale, zero_point});
    }
  }

  /// Leaves out one dim of all lists that have as many entries as the first shape, or makes two neighbours
  /// one.
  void fewer_dims() {
    std::vector<std::string> lists;
    std::size_t rank = 0;
    for (const ParamSpec& spec : of_.op->params) {
      if (spec.kind != Kind::Shape && spec.kind != Kind::Ints) continue;
      const std::size_t size = of_.params->ints(spec.name).size();
      if (lists.empty()) rank = size;
      if (size == rank) lists.push_back(spec.name);
    }
    for (std::size_t i = 0; i < rank; ++i) {
      for (const bool merged : {false, true}) {
        if (merged && i == 0) continue;
        add("rank", [lists, i, merged](const Case& one) { return without_dim(one, lists, i, merged); });
      }
    }
  }

  /// `merged`: the dim before it of each shape gets its elements.
  static std::optional<Case> without_dim(const Case& one, const std::vector<std::string>& lists,
                                         std::size_t dim, bool merged) {
    Params params = one.params;
    for (const std::string& name : lists) {
      Ints entries = params.ints(name);
      if (dim >= entries.size()) return std::nullopt;
      if (merged && one.op->find_param(name)->kind == Kind::Shape) entries[dim - 1] *= entries[dim];
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(dim));
      params.set(name, entries);
    }
    return with_params(one, std::move(params));
  }

  /// Replaces a size everywhere it occurs.
  void equal_sizes() {
    std::multiset<std::int64_t> sizes;
    for (const ParamSpec& spec : of_.op->params) {
      if (is_count(spec)) sizes.insert(of_.params->integer(spec.name));
      if (spec.kind != Kind::Shape) continue;
      for (const std::int64_t dim : of_.params->ints(spec.name)) sizes.insert(dim);
    }
    for (auto at = sizes.begin(); at != sizes.end(); at = sizes.upper_bound(*at)) {
      if (sizes.count(*at) < 2) continue;
      for (const std::int64_t size : smaller(*at, 1)) {
        add(fmt::format("size {}", *at),
            [from = *at, size](const Case& one) { return replaced(one, from, size); });
      }
    }
  }

  static std::optional<Case> replaced(const Case& one, std::int64_t from, std::int64_t to) {
    Params params = one.params;
    for (const ParamSpec& spec : one.op->params) {
      if (is_count(spec) && params.integer(spec.name) == from) params.set(spec.name, to);
      if (spec.kind != Kind::Shape && spec.kind != Kind::Ints) continue;
      Ints entries = params.ints(spec.name);
      std::ranges::replace(entries, from, to);
      params.set(spec.name, entries);
    }
    return with_params(one, std::move(params));
  }

  /// Divides a dim of each of two shapes, whose numbers of elements must stay equal, by the same number, or
  /// makes the shapes equal.
  void pairs_of_shapes() {
    std::vector<const ParamSpec*> shapes;
    for (const ParamSpec& spec : of_.op->params) {
      if (spec.kind == Kind::Shape) shapes.push_back(&spec);
    }
    if (shapes.size() != 2) return;
    const std::string a = shapes[0]->name;
    const std::string b = shapes[1]->name;
    add_value(b, of_.params->at(a));
    for (std::size_t i = 0; i < of_.params->ints(a).size(); ++i) {
      for (std::size_t j = 0; j < of_.params->ints(b).size(); ++j) {
        const std::int64_t x = of_.params->ints(a)[i];
        const std::int64_t y = of_.params->ints(b)[j];
        std::int64_t common = 1;
        for (std::int64_t d = 2; d <= std::min(x, y); ++d) {
          if (x % d != 0 || y % d != 0) continue;
          if (common == 1) add_quotient(a, i, b, j, d);
          common = d;
        }
        if (common > 1) add_quotient(a, i, b, j, common);
      }
    }
  }

  void add_quotient(const std::string& a, std::size_t i, const std::string& b, std::size_t j,
                    std::int64_t by) {
    add("both shapes", [=](const Case& one) {
      Params params = one.params;
      Ints x = params.ints(a);
      Ints y = params.ints(b);
      if (i >= x.size() || j >= y.size() || x[i] % by != 0 || y[j] % by != 0) return std::optional<Case>();
      x[i] /= by;
      y[j] /= by;
      params.set(a, x);
      params.set(b, y);
      return with_params(one, std::move(params));
    });
  }

  const Case& of_;
  std::vector<Edit> edits_;
};

constexpr int most_rounds = 40;
constexpr std::size_t most_of_a_round = 80;

/// A simpler case, and the edit that made it.
struct Candidate {
  Case made;
  const Edit* edit = nullptr;
  double complexity = 0;
};

class Shrinking {
 public:
  Shrinking(const Case& failing, const StillFails& still_fails, const std::function<bool()>& must_stop)
      : still_fails_(still_fails), must_stop_(must_stop), result_{failing, 0} {}

  Shrunk run() {
    for (int round = 0; round < most_rounds && !must_stop_(); ++round) {
      const std::vector<Edit> edits = simplifications(result_.smallest);
      std::vector<Candidate> simpler = candidates(edits);
      if (simpler.empty()) break;
      const std::vector<Candidate> good = failing_among(std::move(simpler));
      if (good.empty()) continue;  // more edits are left than a round tries
      std::vector<Candidate> all = failing_among(combinations(good));
      all.insert(all.end(), good.begin(), good.end());
      result_.smallest = std::ranges::min_element(all, {}, &Candidate::complexity)->made;
    }
    return std::move(result_);
  }

 private:
  /// What the edits make of the case, if that is simpler and was not tried before.
  std::vector<Candidate> candidates(const std::vector<Edit>& edits) {
    std::vector<Candidate> all;
    for (const Edit& edit : edits) {
      if (all.size() == most_of_a_round) break;
      if (std::optional<Case> made = edit.apply(result_.smallest)) add(*std::move(made), &edit, all);
    }
    return all;
  }

  void add(Case made, const Edit* edit, std::vector<Candidate>& all) {
    const double now = complexity(made);
    if (now >= complexity(result_.smallest) || !tried_.insert(short_case_file(made, "c")).second) return;
    all.push_back({std::move(made), edit, now});
  }

  std::vector<Candidate> failing_among(std::vector<Candidate> candidates) {
    if (candidates.empty()) return {};
    std::vector<Case> cases;
    for (const Candidate& one : candidates) cases.push_back(one.made);
    const std::vector<bool> fails = still_fails_(cases);
    result_.tried += cases.size();
    std::vector<Candidate> kept;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (fails[i]) kept.push_back(std::move(candidates[i]));
    }
    return kept;
  }

  /// The best edit of each place, all at once, and halves of them.
  std::vector<Candidate> combinations(const std::vector<Candidate>& good) {
    std::map<std::string, const Candidate*> best;
    for (const Candidate& one : good) {
      const Candidate*& known = best[one.edit->place];
      if (known == nullptr || one.complexity < known->complexity) known = &one;
    }
    std::vector<const Edit*> edits;
    for (const auto& [place, one] : best) edits.push_back(one->edit);
    const std::size_t half = edits.size() / 2;
    std::vector<Candidate> all;
    add(applied(edits), nullptr, all);
    add(applied(std::span(edits).first(half)), nullptr, all);
    add(applied(std::span(edits).subspan(half)), nullptr, all);
    return all;
  }

  Case applied(std::span<const Edit* const> edits) const {
    Case made = result_.smallest;
    for (const Edit* edit : edits) {
      if (std::optional<Case> next = edit->apply(made)) made = *std::move(next);
    }
    return made;
  }

  const StillFails& still_fails_;
  const std::function<bool()>& must_stop_;
  std::set<std::string> tried_;
  Shrunk result_;
};

}  // namespace

std::vector<Edit> simplifications(const Case& of) {
  return Simplifications(of).all();
}

double complexity(const Case& of) {
  double sum = static_cast<double>(short_case_file(of, "c").size());
  const auto add = [&](std::int64_t size) { sum += 4 * std::log2(1 + std::abs(static_cast<double>(size))); };
  for (const ParamSpec& spec : of.op->params) {
    if (is_default(spec, of.params)) continue;  // it is not written
    const Value& value = of.params->at(spec.name);
    if (const auto* number = std::get_if<std::int64_t>(&value)) add(*number);
    if (const auto* list = std::get_if<Ints>(&value)) std::ranges::for_each(*list, add);
    if (const auto* qparams = std::get_if<QParams>(&value)) add(qparams->zero_point);
  }
  return sum;
}

Shrunk shrink(const Case& failing, const StillFails& still_fails, const std::function<bool()>& must_stop) {
  return Shrinking(failing, still_fails, must_stop).run();
}

}  // namespace assay::app
