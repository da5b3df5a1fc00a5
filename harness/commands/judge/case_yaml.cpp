#include "harness/commands/judge/case_yaml.h"

#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <variant>
#include <vector>

namespace assay::app {
namespace {

/// The shortest text that reads back as the same number.
std::string exact_text(double number) {
  return fmt::format("{}", number);
}

std::string value_yaml(const Value& value) {
  struct Text {
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return exact_text(number); }
    std::string operator()(bool is_true) const { return is_true ? "true" : "false"; }
    std::string operator()(const std::string& choice) const { return choice; }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const QParams& qparams) const {
      return fmt::format("{{scale: {}, zero_point: {}}}", shortest(qparams.scale), qparams.zero_point);
    }
  };
  return std::visit(Text{}, value);
}

bool is_derived(const ParamSpec& spec, const Params& params) {
  if (!spec.derive) return false;
  const std::optional<Value> value = spec.default_for(params);
  return value && *value == params.at(spec.name);
}

std::string fill_yaml(const FillSpec& fill) {
  if (fill.value) return fmt::format("{{{}: {}}}", name_of(fill.kind), exact_text(*fill.value));
  return std::string(name_of(fill.kind));
}

/// "{x: buffer/4W, y: buffer/4C}"
std::string forms_yaml(const Case& like) {
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < like.tensors->size(); ++i) {
    forms.push_back(fmt::format("{}: {}", like.tensors[i].name, written_form(like, i)));
  }
  return fmt::format("{{{}}}", fmt::join(forms, ", "));
}

std::string fills_yaml(const Case& like) {
  std::vector<std::string> fills;
  for (const auto& [tensor, fill] : *like.fills)
    fills.push_back(fmt::format("{}: {}", tensor, fill_yaml(fill)));
  return fmt::format("{{{}}}", fmt::join(fills, ", "));
}

}  // namespace

std::string case_yaml(const Case& one, const std::string& name) {
  std::string text = fmt::format("  - name: {}\n", name);
  const auto add = [&](const std::string& key, std::string_view value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  for (const ParamSpec& spec : one.op->params) {
    if (!is_derived(spec, one.params)) add(spec.name, value_yaml(one.params->at(spec.name)));
  }
  if (one.mode != Mode::Accu) {
    add("mode", name_of(one.mode));
    add("cache", name_of(one.caches));
  }
  add("impl", one.impl->name);
  add("forms", forms_yaml(one));
  if (!one.fills->empty()) add("fill", fills_yaml(one));
  if (!one.tune.empty()) {
    std::vector<std::string> tune;
    for (const auto& [tunable, value] : one.tune) tune.push_back(fmt::format("{}: {}", tunable, value));
    add("tune", fmt::format("{{{}}}", fmt::join(tune, ", ")));
  }
  add("timeout", exact_text(one.timeout_s));
  return text;
}

}  // namespace assay::app
