#include "harness/engine/diagnosis/counterfactual.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay {
namespace {

using ParameterChanges = std::vector<Counterfactual>;

std::vector<std::string> names_of_qparams(const Params& params) {
  std::vector<std::string> names;
  for (const auto& [name, value] : params.all()) {
    if (std::holds_alternative<QParams>(value)) names.push_back(name);
  }
  return names;
}

Counterfactual with_qparams(ErrorKind kind, std::string text, const std::string& name, QParams value) {
  return {kind, std::move(text), [name, value](Point& point) { point.params.set(name, value); }};
}

/// The indices of the inputs with that role.
std::vector<std::size_t> inputs_of_role(const Case& test_case, FillRole role) {
  std::vector<std::size_t> found;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->domain.role == role) found.push_back(k);
  }
  return found;
}

Counterfactual with_elements(ErrorKind kind, std::string text, std::size_t input,
                             std::function<double(double)> value_of) {
  return {kind, std::move(text), [input, value_of = std::move(value_of)](Point& point) {
            HostTensor& tensor = point.inputs[input];
            for (std::int64_t i = 0; i < tensor.numel(); ++i) set_element(tensor, i, value_of(tensor.at(i)));
          }};
}

/// Factors that kernels apply by mistake, and their inverses.
struct Factor {
  double value;
  const char* text;
};
constexpr std::array factors = {Factor{0.5, "half of it"},
                                Factor{2, "twice it"},
                                Factor{255.0 / 256, "255/256 of it"},
                                Factor{256.0 / 255, "256/255 of it"},
                                Factor{127.0 / 128, "127/128 of it"},
                                Factor{128.0 / 127, "128/127 of it"},
                                Factor{254.0 / 255, "254/255 of it"},
                                Factor{255.0 / 254, "255/254 of it"},
                                Factor{1.01, "1 % more"},
                                Factor{1 / 1.01, "1 % less"},
                                Factor{0.25, "a quarter of it"},
                                Factor{4, "four times it"}};

void add_zero_points_of(ParameterChanges& changes, const std::string& name, const Params& params) {
  const QParams own = params.qparams(name);
  const auto add = [&](const std::string& what, std::int32_t zero_point) {
    if (zero_point == own.zero_point) return;
    changes.push_back(with_qparams(
        ErrorKind::ZeroPoint, fmt::format("the zero point of {} ({}) were {}", name, own.zero_point, what),
        name, {own.scale, zero_point}));
  };
  add("0", 0);
  for (const std::string& other : names_of_qparams(params)) {
    if (other != name) {
      add(fmt::format("that of {} ({})", other, params.qparams(other).zero_point),
          params.qparams(other).zero_point);
    }
  }
  add("one more", own.zero_point + 1);
  add("one less", own.zero_point - 1);
  add("negated", -own.zero_point);
}

void add_scales_of(ParameterChanges& changes, const std::string& name, const Params& params) {
  const QParams own = params.qparams(name);
  const auto add = [&](const std::string& what, double scale, std::int32_t zero_point) {
    const auto stored = static_cast<float>(scale);
    if ((stored == own.scale && zero_point == own.zero_point) || !(stored > 0) || std::isinf(stored)) return;
    changes.push_back(with_qparams(
        ErrorKind::Scale, fmt::format("the scale of {} ({}) were {}", name, shortest(own.scale), what), name,
        {stored, zero_point}));
  };
  add("1", 1, own.zero_point);
  for (const std::string& other : names_of_qparams(params)) {
    const QParams theirs = params.qparams(other);
    add("that of " + other, theirs.scale, own.zero_point);
    add("that of " + other + ", zero point too", theirs.scale, theirs.zero_point);
  }
  add("its reciprocal", 1.0 / own.scale, own.zero_point);
  for (const Factor& factor : factors) add(factor.text, own.scale * factor.value, own.zero_point);
}

/// A change that explains this share, and leaves this share of the right elements right, ends the search.
constexpr double nearly_all = 0.99;

double share_right(const WrongOutput& output, const HostTensor& values) {
  if (output.right().empty()) return 1;
  const auto agrees = [&](std::int64_t i) {
    const double value = values.at(i), got = output.got(i);
    return value == got || output.explains(i, value) || std::fabs(value - got) <= 1e-6 * std::fabs(got);
  };
  return static_cast<double>(std::ranges::count_if(output.right(), agrees)) /
         static_cast<double>(output.right().size());
}

bool is_better(const CounterfactualResult& a, const CounterfactualResult& b) {
  return std::pair(a.explanation.share >= nearly_all, a.right) >
         std::pair(b.explanation.share >= nearly_all, b.right);
}

/// The outputs for scales that are slightly larger and slightly smaller.
std::vector<HostTensor> beside_ties(const WrongOutput& output, ReferenceProbe& probe) {
  std::vector<HostTensor> answers;
  const Point here = probe.here();
  for (const double factor : {1 + 1e-5, 1 - 1e-5}) {
    for (const Counterfactual& change : scaled_by(output.test_case(), here, factor)) {
      Point other = here;
      change.change(other);
      if (auto answer = probe.ask(other)) answers.push_back(std::move(*answer));
    }
  }
  return answers;
}

}  // namespace

ParameterChanges other_zero_points(const Case& test_case, const Point& point) {
  ParameterChanges changes;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  for (const std::size_t input : inputs_of_role(test_case, FillRole::ZeroPoint)) {
    const std::string name = specs[input]->name;
    const auto add = [&](const char* what, std::function<double(double)> value_of) {
      changes.push_back(
          with_elements(ErrorKind::ZeroPoint, name + " were " + what, input, std::move(value_of)));
    };
    add("0", [](double) { return 0.0; });
    add("one more", [](double value) { return value + 1; });
    add("one less", [](double value) { return value - 1; });
    add("negated", [](double value) { return -value; });
    // A negative byte that is read as unsigned is larger by 256.
    changes.push_back(with_elements(ErrorKind::Sign, "signed bytes were unsigned", input,
                                    [](double value) { return value - 256; }));
    changes.push_back(with_elements(ErrorKind::Sign, "unsigned bytes were signed", input,
                                    [](double value) { return value + 256; }));
  }
  for (const std::string& name : names_of_qparams(point.params))
    add_zero_points_of(changes, name, point.params);
  return changes;
}

ParameterChanges other_scales(const Case& test_case, const Point& point) {
  ParameterChanges changes;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  for (const std::size_t input : inputs_of_role(test_case, FillRole::Scale)) {
    const std::string name = specs[input]->name;
    const auto add = [&](const char* what, std::function<double(double)> value_of) {
      changes.push_back(with_elements(ErrorKind::Scale, name + " were " + what, input, std::move(value_of)));
    };
    add("1", [](double) { return 1.0; });
    add("its reciprocal", [](double value) { return 1 / value; });
    for (const Factor& factor : factors)
      add(factor.text, [factor](double value) { return value * factor.value; });
  }
  for (const std::string& name : names_of_qparams(point.params)) add_scales_of(changes, name, point.params);
  for (const auto& [name, value] : point.params.all()) {
    const double* number = std::get_if<double>(&value);
    if (number == nullptr) continue;
    const auto add = [&, key = name](ErrorKind kind, const char* what, double other) {
      if (other == *number) return;
      changes.push_back({kind, fmt::format("{} ({}) were {}", key, shortest(*number), what),
                         [key, other](Point& at) { at.params.set(key, other); }});
    };
    add(ErrorKind::Scale, "1", 1);
    add(ErrorKind::Sign, "negated", -*number);
    add(ErrorKind::Scale, "0", 0);
  }
  return changes;
}

ParameterChanges scaled_by(const Case& test_case, const Point& point, double factor) {
  ParameterChanges changes;
  for (const std::size_t input : inputs_of_role(test_case, FillRole::Scale)) {
    changes.push_back(
        with_elements(ErrorKind::Scale, "scaled", input, [factor](double value) { return value * factor; }));
  }
  for (const std::string& name : names_of_qparams(point.params)) {
    const QParams own = point.params.qparams(name);
    changes.push_back(with_qparams(ErrorKind::Scale, "scaled", name,
                                   {static_cast<float>(own.scale * factor), own.zero_point}));
  }
  return changes;
}

ParameterChanges other_activations(const Case& test_case, const Point& point) {
  ParameterChanges changes;
  const ParamSpec* spec = test_case.op->find_param("activation");
  if (spec == nullptr || spec->kind != ParamSpec::Kind::Choice) return changes;
  const std::string own = point.params.choice("activation");
  for (const std::string& other : spec->choices) {
    if (other == own) continue;
    changes.push_back({ErrorKind::Clamp, fmt::format("the activation ({}) were {}", own, other),
                       [other](Point& at) { at.params.set("activation", other); }});
  }
  return changes;
}

ParameterChanges other_geometry(const Case&, const Point& point) {
  ParameterChanges changes;
  for (const auto& [name, value] : point.params.all()) {
    const auto* own = std::get_if<std::vector<std::int64_t>>(&value);
    if (own == nullptr || (name != "stride" && name != "dilation" && name != "padding")) continue;
    const auto add = [&, key = name](const std::vector<std::int64_t>& other) {
      if (other == *own) return;
      changes.push_back({ErrorKind::Index,
                         fmt::format("{} ({}) were {}", key, to_string(Shape(*own)), to_string(Shape(other))),
                         [key, other](Point& at) { at.params.set(key, other); }});
    };
    if (own->size() == 4 && name == "padding") {
      const std::vector<std::int64_t>& sides = *own;  // top, left, bottom, right
      add({sides[2], sides[3], sides[0], sides[1]});
      add({sides[1], sides[0], sides[3], sides[2]});
    }
    if (own->size() != 2) continue;
    const std::int64_t none = name == "padding" ? 0 : 1;
    add({none, (*own)[1]});
    add({(*own)[0], none});
    add({none, none});
    add({(*own)[1], (*own)[0]});
  }
  return changes;
}

std::optional<Explanation> explain_ties(const WrongOutput& output, ReferenceProbe& probe) {
  constexpr std::size_t fewest = 3;
  if (!output.is_integer() || output.wrong().size() < fewest || !probe.can_afford(1)) return std::nullopt;
  const std::vector<HostTensor> answers = beside_ties(output, probe);
  const auto is_tie = [&](std::int64_t i) {
    const auto is_it = [&](const HostTensor& answer) { return answer.at(i) == output.got(i); };
    return std::fabs(output.got(i) - output.expected(i)) == 1 && std::ranges::any_of(answers, is_it);
  };
  const auto ties = static_cast<double>(std::ranges::count_if(output.wrong(), is_tie));
  return if_enough({ErrorKind::Rounding, "integers are off by one at exact ties",
                    ties / static_cast<double>(output.wrong().size())});
}

std::vector<Counterfactual> counterfactuals(const Case& test_case, const Point& point) {
  std::vector<Counterfactual> all;
  for (const auto& list : {other_zero_points, other_scales, other_activations, other_blocks, other_padding,
                           other_geometry, missing_terms, misread_inputs}) {
    std::ranges::move(list(test_case, point), std::back_inserter(all));
  }
  return all;
}

std::optional<CounterfactualResult> explain_by_counterfactuals(const WrongOutput& output,
                                                               ReferenceProbe& probe) {
  if (!probe.can_afford(1)) return std::nullopt;
  const Point here = probe.here();
  const std::vector<Counterfactual> changes = counterfactuals(output.test_case(), here);
  std::optional<CounterfactualResult> best;
  for (const Counterfactual& change : changes) {
    if (!probe.can_afford(1)) break;
    Point other = here;
    change.change(other);
    const std::optional<HostTensor> values = probe.ask(other);
    if (!values) continue;
    const double share = output.share_explained([&](std::int64_t i) { return values->at(i); });
    if (share < least_share) continue;
    const double explained = share * static_cast<double>(output.wrong().size());
    if (output.evidence_bits(explained, static_cast<double>(changes.size())) < least_bits) continue;
    CounterfactualResult result{{change.kind, "as if " + change.text, share}, share_right(output, *values)};
    if (!best || is_better(result, *best)) best = std::move(result);
    if (best->explanation.share >= nearly_all && best->right >= nearly_all) break;
  }
  return best;
}

}  // namespace assay
