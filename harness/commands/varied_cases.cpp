#include "harness/commands/varied_cases.h"

#include "harness/cases/expansion/replaced_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace assay::app {
namespace {

constexpr std::array<std::int64_t, 3> local_sizes{16, 64, 256};
constexpr std::array<const char*, 3> side_names{"local_x", "local_y", "local_z"};
constexpr std::array<std::array<std::int64_t, 3>, 3> local_sides{{{8, 8, 1}, {16, 4, 1}, {4, 16, 1}}};

std::string forms_of(const Case& test_case) {
  std::string text;
  for (const Form& form : test_case.forms) text += to_string(form) + ' ';
  return text;
}

/// What --set leaves as it is of a case, which tells points of one product apart. Parameters whose defaults
/// may follow from a replaced value are left out.
std::vector<std::string> kind_of(const Case& test_case, const cases::ReplacedValues& values) {
  std::vector<std::string> kind{fmt::format("{}:{}", test_case.where->file, test_case.where->line)};
  if (!values.replace("impl")) kind.push_back(test_case.impl->name);
  if (!values.replace("forms")) kind.push_back(forms_of(test_case));
  if (!values.replace("impl") && !values.replace("tune")) {
    for (const auto& [name, value] : test_case.tune) kind.push_back(fmt::format("{}={}", name, value));
  }
  Params left;
  for (const ParamSpec& param : test_case.op->params) {
    if (values.replace(param.name) || param.derive || !test_case.params->has(param.name)) continue;
    left.set(param.name, test_case.params->at(param.name));
  }
  kind.push_back(left.canonical());
  return kind;
}

/// Keeps those of the changed cases that come from selected ones.
void keep_kinds(std::vector<Case>& changed, std::span<const Case* const> selected,
                const cases::ReplacedValues& values) {
  std::set<std::vector<std::string>> kinds;
  for (const Case* one : selected) kinds.insert(kind_of(*one, values));
  std::erase_if(changed, [&](const Case& one) { return !kinds.contains(kind_of(one, values)); });
}

void keep_selected(std::vector<Case>& cases, const Selection& selection) {
  std::set<const Case*> kept;
  for (const Case* one : select(cases, selection)) kept.insert(one);
  std::vector<Case> left;
  for (Case& one : cases) {
    if (kept.contains(&one)) left.push_back(std::move(one));
  }
  cases = std::move(left);
}

bool has_tunable(const Case& test_case, std::string_view name) {
  return std::ranges::any_of(test_case.impl->tunables,
                             [&](const Tunable& tunable) { return tunable.name == name; });
}

bool may_be(const Case& test_case, const std::string& name, std::int64_t value) {
  const auto tunable = std::ranges::find(test_case.impl->tunables, name, &Tunable::name);
  return tunable != test_case.impl->tunables.end() && tunable->allows(value);
}

/// The case with other tunables, if it is valid.
void add_tuned(std::vector<Case>& all, const Case& original, const std::map<std::string, std::int64_t>& tune,
               const std::string& suffix) {
  for (const auto& [name, value] : tune) {
    if (!may_be(original, name, value)) return;
  }
  Case copy = original;
  copy.id += suffix;
  copy.tune.insert(tune.begin(), tune.end());
  copy.invalid = why_invalid(copy);
  if (!copy.invalid) all.push_back(std::move(copy));
}

std::vector<Case> other_local_sizes(const Case& original) {
  std::vector<Case> all;
  const auto is_set = [&](const char* name) { return original.tune.contains(name); };
  if (has_tunable(original, "local_size") && !is_set("local_size")) {
    for (const std::int64_t size : local_sizes)
      add_tuned(all, original, {{"local_size", size}}, fmt::format("/local_size{}", size));
  }
  if (has_tunable(original, "local_x") && std::ranges::none_of(side_names, is_set)) {
    for (const auto& [x, y, z] : local_sides) {
      add_tuned(all, original, {{"local_x", x}, {"local_y", y}, {"local_z", z}},
                fmt::format("/local_{}x{}x{}", x, y, z));
    }
  }
  return all;
}

}  // namespace

LoadResult with_values(const CaseOptions& options, LoadOptions how, LoadResult loaded,
                       const LoadAgain& load) {
  const std::vector<const Case*> selected = select(loaded.cases, options.selection());
  std::vector<SourceLocation> places;
  for (const Case* one : selected) places.push_back(one->where);
  try {
    const auto values = std::make_shared<const cases::ReplacedValues>(options.values, places);
    how.replaced = values;
    LoadResult changed = load(how);
    if (selected.empty()) {
      keep_selected(changed.cases, options.selection());
      changed.errors = std::move(loaded.errors);  // those of the files as they are
    } else {
      keep_kinds(changed.cases, selected, *values);
    }
    return changed;
  } catch (const cases::Problem& problem) {
    loaded.cases.clear();
    loaded.errors = problem.diagnostics();
    return loaded;
  }
}

std::vector<Case> replayed_cases(const CaseOptions& options, std::vector<Case> cases) {
  Selection selection = options.selection();
  const std::string filter = std::exchange(selection.filter, "");
  selection.mode.reset();
  keep_selected(cases, selection);
  std::vector<Case> all;
  for (Case& one : cases) {
    one.mode = Mode::Accu;
    std::vector<Case> copies = other_local_sizes(one);
    const bool is_selected = filter_matches(filter, one.id);
    if (is_selected) all.push_back(std::move(one));
    for (Case& copy : copies) {
      if (is_selected || filter_matches(filter, copy.id)) all.push_back(std::move(copy));
    }
  }
  return all;
}

}  // namespace assay::app
