#include "harness/commands/loaded_cases.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/expansion/load_options.h"
#include "harness/cases/expansion/node_cases.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/commands/find_report.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/record/run_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>

namespace assay::app {
namespace {

constexpr std::size_t most_named_globs = 4;
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

/// Names the parts of --filter that select nothing beside others that do: what was meant is not run.
void name_unmatched_globs(std::string_view filter, std::span<const Case> cases, std::ostream& errors) {
  const std::vector<std::string_view> unmatched = unmatched_globs(filter, cases);
  if (unmatched.empty()) return;
  std::vector<std::string_view> ids;
  for (const Case& test_case : cases) ids.push_back(test_case.id);
  for (std::size_t i = 0; i < std::min(unmatched.size(), most_named_globs); ++i) {
    errors << fmt::format("note: '{}' of --filter matches no case{}\n", printable(unmatched[i]),
                          near_ids_text(unmatched[i], ids));
  }
  if (unmatched.size() > most_named_globs) {
    errors << fmt::format("note: {} more parts of --filter match no case\n",
                          unmatched.size() - most_named_globs);
  }
}

/// Names the values of an option that select nothing beside others that do; `name_of` is what they select by.
template <class NameOf>
void name_unmatched_values(const char* option, const std::vector<std::string>& values,
                           std::span<const Case> cases, NameOf name_of, std::ostream& errors) {
  if (values.size() < 2) return;
  std::set<std::string> names;
  for (const Case& test_case : cases) names.insert(name_of(test_case));
  const std::vector<std::string> known(names.begin(), names.end());
  const auto is_unmatched = [&](const std::string& value) {
    return std::ranges::none_of(known, [&](const std::string& name) { return glob_matches(value, name); });
  };
  if (std::ranges::all_of(values, is_unmatched)) return;  // an error follows
  for (const std::string& value : values) {
    if (!is_unmatched(value)) continue;
    const std::string meant = cases::nearest(value, known);
    errors << fmt::format("note: '{}' of {} matches no case{}\n", printable_line(value), option,
                          meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
  }
}

/// Names what was asked for and is not run, as it may be mistyped.
void name_unmatched(const CaseOptions& options, std::span<const Case> cases, std::ostream& errors) {
  name_unmatched_globs(options.filter, cases, errors);
  name_unmatched_values(
      "--op", options.ops, cases, [](const Case& one) { return one.op->name; }, errors);
  name_unmatched_values(
      "--impl", options.impls, cases, [](const Case& one) { return one.impl->name; }, errors);
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

std::shared_ptr<const chain::NodeTimes> read_node_times(const std::filesystem::path& report) {
  const RunReport read = read_checked_journal(only_journal(report));
  // A run with a profile (--as-if) has a device of another name, whose times NodeTimes::refuse() refuses.
  if (const RunKind kind = kind_of_run(read.run); kind.robust_access || kind.validation) {
    throw Error(fmt::format(
        "reading the times of chains' nodes: the run in '{}' is {}, so its times are not those of "
        "a plain run; give the report of one",
        report.string(), kind_text(kind)));
  }
  auto times = std::make_shared<chain::NodeTimes>(read.run.run_id, read.run.device);
  bool has_times = false;
  for (const Record& record : read.records) {
    const RowInfo& info = record.info;
    const bool is_own_kernel = !info.shaders && !info.versus && info.tune.empty() && info.tuned.empty();
    if (record.status != Status::Pass || !record.perf || !is_own_kernel || info.cache == "cold") continue;
    const double us = record.perf->time_us_p50;
    if (!(us > 0) || !std::isfinite(us)) continue;
    times->add({.op = info.op, .impl = info.impl, .params = info.params, .forms = info.forms}, us);
    has_times = true;
  }
  if (!has_times) {
    throw Error(fmt::format(
        "reading the times of chains' nodes: no row of '{}' has a time; `assay run FILE --nodes --mode perf` "
        "makes such a report",
        report.string()));
  }
  return times;
}

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
    const bool is_selected = are_selected || filter_matches(filter, one);
    if (is_selected) all.push_back(std::move(one));
    for (Case& copy : copies) {
      const bool is_meant = is_selected ? filter_matches(excluded, copy.id) : filter_matches(filter, copy.id);
      if (is_meant) all.push_back(std::move(copy));
    }
  }
  return all;
}

LoadResult load(const CaseOptions& options, std::span<const std::filesystem::path> paths,
                const Registry& registry) {
  LoadOptions how{.seed = options.seed};
  if (!options.times.empty()) how.node_times = read_node_times(options.times);
  const auto load_once = [&](const LoadOptions& with) {
    LoadResult loaded = load_cases(paths, registry, with);
    loaded.node_times = with.node_times;
    if (options.nodes) loaded.cases = node_cases(loaded.cases);
    return loaded;
  };
  if (options.nodes && !options.values.empty()) {
    throw Error(
        "choosing cases: --set changes cases as their files have them, and --nodes takes the nodes of chains "
        "instead: give one of both");
  }
  VariedCases varied =
      options.values.empty() ? VariedCases{load_once(how)} : with_values(options, how, load_once);
  if (options.replays)
    varied.loaded.cases = replayed_cases(options, std::move(varied.loaded.cases), varied.are_selected);
  return std::move(varied.loaded);
}

std::vector<const Case*> selected_cases(const CaseOptions& options, std::span<const Case> loaded) {
  if (options.values.empty() && !options.replays) return select(loaded, options.selection());
  return select(loaded, {});  // load() has selected, as the ids have changed since
}

LoadResult load_and_complain(const CaseOptions& options, const Registry& registry, std::ostream& errors) {
  LoadResult loaded = load(options, options.paths(), registry);
  for (const Diagnostic& error : loaded.errors) errors << to_string(error) << '\n';
  if (!loaded.errors.empty()) {
    errors << loaded.errors.size() << (loaded.errors.size() == 1 ? " error" : " errors")
           << (options.values.empty() ? " in case files" : " in case files or --set")
           << (loaded.cases.empty() ? "; no case is left, and the exit code is 2\n"
                                    : "; the other cases are used, and the exit code will be 2\n");
  }
  if (options.values.empty() && !options.replays) name_unmatched(options, loaded.cases, errors);
  return loaded;
}

}  // namespace assay::app
