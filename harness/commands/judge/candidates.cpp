#include "harness/commands/judge/candidates.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <utility>
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

std::vector<Candidates::Loaded> Candidates::write_and_load(std::span<const Case> cases,
                                                           const std::string& name,
                                                           std::size_t of_a_name) const {
  if (cases.empty()) return {};
  std::string text = fmt::format("op: {}\ncases:\n", cases.front().op->name);
  for (std::size_t i = 0; i < cases.size(); ++i)
    text += case_yaml(cases[i], fmt::format("{}_{}", name, i / of_a_name + 1));
  replace_file(file_, text);
  std::vector<Loaded> made;
  for (Case& one : load_cases(std::array{file_}, registry_).cases) {
    const std::size_t number = std::stoul(one.name.substr(one.name.rfind('_') + 1)) - 1;
    made.push_back({std::move(one), number});
  }
  return made;
}

std::vector<Candidates::Loaded> Candidates::valid(std::span<const Case> candidates) const {
  std::vector<Loaded> made = write_and_load(candidates, "candidate", 1);
  std::erase_if(made, [](const Loaded& one) { return one.loaded.invalid.has_value(); });
  return made;
}

std::vector<Case> Candidates::keep(std::span<const Case> cases, const std::string& name, bool pairs) const {
  if (cases.empty()) {
    std::filesystem::remove(file_);
    return {};
  }
  std::vector<Case> kept;
  for (Loaded& one : write_and_load(cases, name, pairs ? 2 : 1)) kept.push_back(std::move(one.loaded));
  return kept;
}

}  // namespace assay::app
