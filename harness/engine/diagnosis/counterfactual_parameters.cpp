#include "harness/base/text.h"
#include "harness/engine/diagnosis/counterfactual.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

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
    if (own == nullptr || own->size() != 2 || (name != "stride" && name != "dilation" && name != "padding"))
      continue;
    const auto add = [&, key = name](const std::vector<std::int64_t>& other) {
      if (other == *own) return;
      changes.push_back({ErrorKind::Index,
                         fmt::format("{} ({}) were {}", key, to_string(Shape(*own)), to_string(Shape(other))),
                         [key, other](Point& at) { at.params.set(key, other); }});
    };
    const std::int64_t none = name == "padding" ? 0 : 1;
    add({none, (*own)[1]});
    add({(*own)[0], none});
    add({none, none});
    add({(*own)[1], (*own)[0]});
  }
  return changes;
}

}  // namespace assay
