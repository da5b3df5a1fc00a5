#include "harness/commands/points/written_cases.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
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

std::string map_of(const std::vector<std::string>& entries) {
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

/// "{x: buffer/4W, y: buffer/4C}"
std::string forms_yaml(const Case& like) {
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < like.tensors->size(); ++i) {
    if (is_data_before(like.tensors, i)) continue;
    forms.push_back(fmt::format("{}: {}", like.tensors[i].name, written_form(like, i)));
  }
  return map_of(forms);
}

std::string fills_yaml(const Case& like) {
  std::vector<std::string> fills;
  for (const auto& [tensor, fill] : *like.fills)
    fills.push_back(fmt::format("{}: {}", tensor, fill_yaml(fill)));
  return map_of(fills);
}

std::string tune_yaml(const Case& like) {
  std::vector<std::string> tune;
  for (const auto& [tunable, value] : like.tune) tune.push_back(fmt::format("{}: {}", tunable, value));
  return map_of(tune);
}

/// The settings that are not defaults: "impl: serial".
std::vector<std::string> short_settings(const Case& one) {
  std::vector<std::string> all;
  for (const ParamSpec& spec : one.op->params) {
    if (!is_default(spec, one.params))
      all.push_back(fmt::format("{}: {}", spec.name, value_yaml(one.params->at(spec.name))));
  }
  if (one.impl != one.op->default_impl()) all.push_back("impl: " + one.impl->name);
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < one.tensors->size(); ++i) {
    if (is_data_before(one.tensors, i)) continue;
    if (one.conv2d.covers(i) || one.forms[i] != one.tensors[i].forms.front())
      forms.push_back(fmt::format("{}: {}", one.tensors[i].name, written_form(one, i)));
  }
  if (!forms.empty()) all.push_back("forms: " + map_of(forms));
  std::vector<std::string> fills;
  for (const auto& [tensor, fill] : *one.fills) {
    if (fill != FillSpec{}) fills.push_back(fmt::format("{}: {}", tensor, fill_yaml(fill)));
  }
  if (!fills.empty()) all.push_back("fill: " + map_of(fills));
  if (!one.tune.empty()) all.push_back("tune: " + tune_yaml(one));
  if (one.timeout_s != Case{}.timeout_s) all.push_back("timeout: " + exact_text(one.timeout_s));
  return all;
}

}  // namespace

bool is_default(const ParamSpec& spec, const Params& params) {
  return is_derived(spec, params) || (spec.fallback && *spec.fallback == params.at(spec.name));
}

bool is_writable(const Case& one) {
  return std::ranges::none_of(*one.fills, [](const auto& fill) { return fill.second.kind == FillKind::Npy; });
}

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
  if (!one.tune.empty()) add("tune", tune_yaml(one));
  add("timeout", exact_text(one.timeout_s));
  return text;
}

std::string short_case_file(const Case& one, const std::string& name) {
  constexpr std::size_t columns = 100;
  std::string text = fmt::format("op: {}\ncases:\n", one.op->name);
  std::string line = fmt::format("  - {{name: {}", name);
  for (const std::string& setting : short_settings(one)) {
    line += ',';
    if (line.size() + 2 + setting.size() > columns) {
      text += line + '\n';
      line = "    ";
    }
    line += ' ' + setting;
  }
  return text + line + "}\n";
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
