#include "harness/engine/run/planned_rows.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/op/data_text.h"
#include "harness/report/record/rows_to_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace assay {
namespace {

constexpr const char* versus_suffix = "/versus";
constexpr const char* cold_suffix = "/cold";

bool has_suffix(const PlannedRow& row) {
  return row.versus || row.cache == Cache::Cold;
}

[[noreturn]] void throw_equal_ids(const std::string& id, const Case& with_suffix) {
  throw Error(fmt::format(
      "planning the rows: '{0}' is the id of a case and of a row of the case '{1}' (the id of a cold row "
      "ends in {2}, the id of a row with the other shaders in {3}); leave one of them out with --filter",
      id, with_suffix.id, cold_suffix, versus_suffix));
}

/// Ids with a suffix may clash with ids from a case file.
void refuse_equal_ids(const std::vector<PlannedGroup>& groups) {
  const auto is_there = [](const PlannedGroup& group) { return std::ranges::any_of(group, has_suffix); };
  if (std::ranges::none_of(groups, is_there)) return;
  std::map<Mode, std::unordered_set<std::string_view>> plain;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) plain[row.mode].insert(row.test_case->id);
  }
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) {
      if (!has_suffix(row)) continue;
      const std::string id = row_id(row);
      if (plain[row.mode].contains(id)) throw_equal_ids(id, *row.test_case);
    }
  }
}

std::vector<Cache> caches_of(const Case& test_case, Mode mode) {
  if (mode == Mode::Accu || test_case.caches == Caches::Hot) return {Cache::Hot};
  if (test_case.caches == Caches::Cold) return {Cache::Cold};
  return {Cache::Hot, Cache::Cold};
}

std::optional<std::size_t> own_version(const PlannedGroup& group, const PlannedRow& row) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PlannedRow& other = group[i];
    if (other.test_case == row.test_case && other.mode == row.mode && other.cache == row.cache &&
        !other.versus)
      return i;
  }
  return std::nullopt;
}

/// How well `other` suits as the baseline of `row`; negative: not at all.
int fitness(const PlannedRow& row, const PlannedRow& other, const std::string& impl) {
  const bool fits = other.mode == Mode::Perf && other.test_case->impl->name == impl && !other.versus &&
                    other.cache == row.cache && ask_for_same_forms(*other.test_case, *row.test_case);
  if (!fits) return -1;
  return (other.test_case->tune == row.test_case->tune ? 2 : 0) +
         (other.test_case->name == row.test_case->name ? 1 : 0);
}

std::optional<std::size_t> row_of_impl(const PlannedGroup& group, const PlannedRow& row,
                                       const std::string& impl) {
  std::optional<std::size_t> best;
  int best_fitness = -1;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const int fits = fitness(row, group[i], impl);
    if (fits <= best_fitness) continue;
    best = i;
    best_fitness = fits;
  }
  return best;
}

std::string fill_text(const FillSpec& fill) {
  if (fill.kind == FillKind::Npy) return "npy:" + to_string(fill.file);
  if (fill.value) return fmt::format("{}:{}", name_of(fill.kind), *fill.value);
  return std::string(name_of(fill.kind));
}

/// Whether a tensor is a constant that only one node of a chain has. A network may have hundreds.
bool is_of_one_node(const Case& test_case, const TensorSpec& spec) {
  return test_case.op->chain && spec.constant && spec.name.find('.') != std::string::npos;
}

std::string shapes_text(const Case& test_case) {
  std::vector<std::string> shapes;
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    const TensorSpec& spec = test_case.tensors[i];
    if (!is_of_one_node(test_case, spec) && !is_data_before(test_case.tensors, i))
      shapes.push_back(fmt::format("{}={}", spec.name, to_string(spec.shape)));
  }
  return fmt::format("{}", fmt::join(shapes, " "));
}

/// Constants of one node are named where they are not in their default form.
std::string forms_text(const Case& test_case) {
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    const TensorSpec& spec = test_case.tensors[i];
    if (is_data_before(test_case.tensors, i)) continue;
    if (!is_of_one_node(test_case, spec) || test_case.forms[i] != spec.forms.front())
      forms.push_back(fmt::format("{}={}", spec.name, form_text(test_case, i)));
  }
  return fmt::format("{}", fmt::join(forms, " "));
}

/// Constants of one node are named if they differ in their fills.
std::string fills_text(const Case& test_case) {
  std::vector<std::string> fills;
  std::vector<std::string> of_constants;
  std::set<std::string> kinds;
  for (const TensorSpec& spec : *test_case.tensors) {
    if (!spec.is_input()) continue;
    const std::string fill = fill_text(test_case.fills->at(spec.name));
    const bool is_constant = is_of_one_node(test_case, spec);
    (is_constant ? of_constants : fills).push_back(fmt::format("{}={}", spec.name, fill));
    if (is_constant) kinds.insert(fill);
  }
  if (kinds.size() == 1) of_constants = {"constants=" + *kinds.begin()};
  fills.insert(fills.end(), of_constants.begin(), of_constants.end());
  return fmt::format("{}", fmt::join(fills, " "));
}

std::string tuned_text(const Case& test_case) {
  const TunedDefaults* tuned = test_case.tuned.get();
  return tuned == nullptr ? "" : fmt::format("{} (line {})", tune_text(tuned->values), tuned->line);
}

std::int64_t tokens_of(const Case& test_case) {
  if (test_case.tokens > 0 || !test_case.op->tokens) return test_case.tokens;
  return test_case.op->tokens(test_case.params);
}

/// The part of a row's description that comes from its case, without the id.
RowInfo info_of_case(const Case& test_case, Mode mode) {
  return {.op = test_case.op->name,
          .name = test_case.name,
          .impl = test_case.impl->name,
          .group = fmt::format("{:016x}", test_case.data_key),
          .model = test_case.model,
          .layer = test_case.layer,
          .calls = test_case.calls,
          .tokens = tokens_of(test_case),
          .dtype = std::string(name_of(test_case.tensors->front().dtype)),
          .shape = to_string(test_case.tensors->front().shape),
          .shapes = shapes_text(test_case),
          .params = data_text(*test_case.op, *test_case.params),
          .forms = forms_text(test_case),
          .tune = tune_text(test_case.tune),
          .tuned = tuned_text(test_case),
          .fill = fills_text(test_case),
          .mode = std::string(name_of(mode)),
          .tier = std::string(name_of(test_case.tier)),
          .seed = test_case.seed,
          .where = test_case.where};
}

}  // namespace

std::vector<PlannedGroup> plan_rows(std::span<const Case* const> cases, std::optional<Mode> mode,
                                    bool versus) {
  const auto wants = [&](const Case& test_case, Mode row) {
    return (test_case.mode == row || test_case.mode == Mode::Both) &&
           (!mode || *mode == row || *mode == Mode::Both);
  };
  std::vector<PlannedGroup> groups;
  for (const Group& group : group_by_data(cases)) {
    PlannedGroup rows;
    for (const Mode row : {Mode::Accu, Mode::Perf}) {
      for (const Case* test_case : group.cases) {
        if (!wants(*test_case, row)) continue;
        for (const Cache cache : caches_of(*test_case, row)) {
          rows.push_back({test_case, row, false, cache});
          if (versus) rows.push_back({test_case, row, true, cache});
        }
      }
    }
    if (!rows.empty()) groups.push_back(std::move(rows));
  }
  refuse_equal_ids(groups);
  return groups;
}

std::string tune_text(const Tune& tune) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : tune) pairs.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(pairs, " "));
}

std::string row_id(const PlannedRow& row) {
  std::string id = row.test_case->id;
  if (row.cache == Cache::Cold) id += cold_suffix;
  if (row.versus) id += versus_suffix;
  return id;
}

RowInfo row_info(const PlannedRow& row, const RowNames& names) {
  RowInfo info = info_of_case(*row.test_case, row.mode);
  info.id = row_id(row);
  if (row.mode == Mode::Perf) info.cache = name_of(row.cache);
  info.shaders = row.versus ? names.versus : names.shaders;
  info.versus = row.versus;
  return info;
}

RowWords words_of(const RowInfo& info) {
  std::string_view case_id = info.id;
  const auto cut = [&](std::string_view suffix) {
    if (case_id.ends_with(suffix)) case_id.remove_suffix(suffix.size());
  };
  if (info.versus) cut(versus_suffix);
  if (info.cache == name_of(Cache::Cold)) cut(cold_suffix);
  return {.id = info.id, .case_id = case_id, .params = info.params, .mode = info.mode, .impl = info.impl};
}

std::vector<Baseline> choose_baselines(const PlannedGroup& group, const std::string& impl) {
  std::vector<Baseline> baselines(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PlannedRow& row = group[i];
    if (row.mode != Mode::Perf) continue;
    if (row.versus && impl.empty()) {
      baselines[i] = {true, own_version(group, row)};
    } else if (!impl.empty() && (row.versus || row.test_case->impl->name != impl)) {
      baselines[i] = {true, row_of_impl(group, row, impl)};
    }
  }
  return baselines;
}

std::vector<PlannedGroup> versus_rows_alone(std::span<const PlannedGroup> groups, const std::string& impl) {
  std::vector<PlannedGroup> kept;
  for (const PlannedGroup& group : groups) {
    const std::vector<Baseline> baselines = choose_baselines(group, impl);
    std::vector<bool> wanted(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!group[i].versus) continue;
      wanted[i] = true;
      if (baselines[i].row) wanted[*baselines[i].row] = true;
    }
    PlannedGroup rows;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (wanted[i]) rows.push_back(group[i]);
    }
    if (!rows.empty()) kept.push_back(std::move(rows));
  }
  return kept;
}

std::vector<RowInfo> plan_of(std::span<const PlannedGroup> groups, const RowNames& names,
                             const std::string& baseline_impl) {
  std::size_t rows = 0;
  for (const PlannedGroup& group : groups) rows += group.size();
  std::vector<RowInfo> plan;
  plan.reserve(rows);
  for (const PlannedGroup& group : groups) {
    const std::vector<Baseline> baselines = choose_baselines(group, baseline_impl);
    for (std::size_t i = 0; i < group.size(); ++i) {
      RowInfo& info = plan.emplace_back(row_info(group[i], names));
      if (baselines[i].row) {
        info.baseline = row_id(group[*baselines[i].row]);
      } else if (baselines[i].wanted) {
        info.baseline_note =
            fmt::format("no row of impl '{}' in the same forms is timed in this group", baseline_impl);
      }
    }
  }
  return plan;
}

std::vector<double> guessed_costs(std::span<const PlannedGroup> groups) {
  constexpr double timed = 50;  // a second of sampling, compared with about 20 ms for a row of mode accu
  std::vector<double> costs;
  for (const PlannedGroup& group : groups) {
    double cost = 0;
    for (const PlannedRow& row : group) cost += row.mode == Mode::Perf ? timed : 1;
    costs.push_back(cost);
  }
  return costs;
}

std::vector<std::size_t> balanced(std::span<const double> costs, const Shard& shard) {
  std::vector<std::size_t> longest_first(costs.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::ranges::greater{},
                           [&](std::size_t group) { return costs[group]; });
  using Load = std::pair<double, int>;  // equal loads: the first shard comes first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int index = 1; index <= shard.count; ++index) loads.emplace(0.0, index);
  std::vector<std::size_t> taken;
  for (const std::size_t group : longest_first) {
    const auto [load, index] = loads.top();
    loads.pop();
    loads.emplace(load + costs[group], index);
    if (index == shard.index) taken.push_back(group);
  }
  std::ranges::sort(taken);
  return taken;
}

ShardInfo shard_info(std::span<const PlannedGroup> groups, const Shard& shard,
                     std::span<const std::size_t> taken) {
  ShardInfo info{.index = shard.index,
                 .count = shard.count,
                 .all_groups = groups.size(),
                 .plan_hash = plan_hash(groups),
                 .groups = number_ranges(taken)};
  for (const PlannedGroup& group : groups) info.all_rows += group.size();
  return info;
}

std::string plan_hash(std::span<const PlannedGroup> groups) {
  Hasher hasher;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) {
      hasher.feed(row_id(row));
      hasher.feed(row.mode == Mode::Accu ? "\na\n" : "\np\n");
    }
    hasher.feed("\n");
  }
  return hasher.result();
}

std::vector<const Case*> cases_of_shard(std::span<const Case* const> cases,
                                        std::span<const PlannedGroup> groups, const ShardInfo& shard) {
  if (groups.size() != shard.all_groups || plan_hash(groups) != shard.plan_hash) {
    throw Error(
        fmt::format("taking shard {} of {}: {} groups of rows were shared out, and the case files here give "
                    "{}, or other rows; use the case files that the shards were made from",
                    shard.index, shard.count, shard.all_groups, groups.size()));
  }
  std::unordered_set<const Case*> wanted;
  for (const std::size_t group : groups_of(shard)) {
    for (const PlannedRow& row : groups[group]) wanted.insert(row.test_case);
  }
  std::vector<const Case*> taken;
  std::ranges::copy_if(cases, std::back_inserter(taken),
                       [&](const Case* test_case) { return wanted.contains(test_case); });
  return taken;
}

}  // namespace assay
