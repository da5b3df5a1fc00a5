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

/// Keeps each text once: a value may be wrong for many cases.
void keep_first(std::vector<Diagnostic>& errors) {
  std::set<std::string> seen;
  std::erase_if(errors, [&](const Diagnostic& error) { return !seen.insert(to_string(error)).second; });
}

/// The keys that these values replace; none of a value that cannot be read, which is reported later.
std::set<std::string> keys_of(std::span<const std::string> values) {
  std::set<std::string> keys;
  for (const std::string& value : values) keys.insert(value.substr(0, value.find('=')));
  return keys;
}

/// The part of a filter that excludes ids: "-NEG"; empty: none.
std::string negative_part(const std::string& filter) {
  const auto minus = filter.find('-');
  return minus == filter.npos ? "" : filter.substr(minus);
}

}  // namespace

VariedCases with_values(const CaseOptions& options, LoadOptions how, const LoadAgain& load) {
  const auto kinds_before = std::make_shared<PointKinds>(PointKinds{.left_out = keys_of(options.values)});
  const auto kinds_after = std::make_shared<PointKinds>(*kinds_before);
  how.kinds = kinds_before;
  LoadResult loaded = load(how);
  const std::vector<const Case*> selected = select(loaded.cases, options.selection());
  std::vector<SourceLocation> places;
  for (const Case* one : selected) {
    places.push_back(one->where);
    kinds_after->wanted.insert(kinds_before->of_id.at(one->id));
  }
  try {
    how.replaced = std::make_shared<const cases::ReplacedValues>(options.values, places);
    how.kinds = kinds_after;
    LoadResult changed = load(how);
    if (selected.empty()) {
      changed.errors = std::move(loaded.errors);  // those of the files as they are
      if (!options.replays) keep_selected(changed.cases, options.selection());
    }
    keep_first(changed.errors);
    return {std::move(changed), !selected.empty()};
  } catch (const cases::Problem& problem) {
    loaded.cases.clear();
    loaded.errors = problem.diagnostics();
    return {std::move(loaded), true};
  }
}

std::vector<Case> replayed_cases(const CaseOptions& options, std::vector<Case> cases, bool are_selected) {
  Selection selection = options.selection();
  const std::string filter = std::exchange(selection.filter, "");
  keep_selected(cases, selection);
  const std::string excluded = negative_part(filter);
  std::vector<Case> all;
  for (Case& one : cases) {
    one.mode = Mode::Accu;
    std::vector<Case> copies = other_local_sizes(one);
    const bool is_selected = are_selected || filter_matches(filter, one.id);
    if (is_selected) all.push_back(std::move(one));
    for (Case& copy : copies) {
      const bool is_meant = is_selected ? filter_matches(excluded, copy.id) : filter_matches(filter, copy.id);
      if (is_meant) all.push_back(std::move(copy));
    }
  }
  return all;
}

}  // namespace assay::app
