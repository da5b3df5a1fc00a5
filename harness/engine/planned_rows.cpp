#include "harness/engine/planned_rows.h"

#include "harness/core/error.h"
#include "harness/engine/case_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay {
namespace {

constexpr const char* versus_suffix = "/versus";
constexpr const char* cold_suffix = "/cold";

/// Ids with a suffix may meet those that a file gives.
void refuse_equal_ids(const std::vector<PlannedGroup>& groups) {
  std::set<std::pair<std::string, Mode>> plain;
  const auto for_each_row = [&](const auto& action) {
    for (const PlannedGroup& group : groups) std::for_each(group.begin(), group.end(), action);
  };
  for_each_row([&](const PlannedRow& row) { plain.emplace(row.one->id, row.mode); });
  for_each_row([&](const PlannedRow& row) {
    const std::string id = row_info(row, {}).id;
    if (id == row.one->id || !plain.contains({id, row.mode})) return;
    throw Error(
        fmt::format("planning the rows: '{0}' is the id of a case and of a row of the case '{1}' (a cold "
                    "row's id ends in "
                    "{2}, that of one with the other shaders in {3}); leave one of them out with --filter",
                    id, row.one->id, cold_suffix, versus_suffix));
  });
}

std::vector<Cache> caches_of(const Case& one, Mode mode) {
  if (mode == Mode::Accu || one.caches == Caches::Hot) return {Cache::Hot};
  if (one.caches == Caches::Cold) return {Cache::Cold};
  return {Cache::Hot, Cache::Cold};
}

std::optional<std::size_t> own_version(const PlannedGroup& group, const PlannedRow& row) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PlannedRow& other = group[i];
    if (other.one == row.one && other.mode == row.mode && other.cache == row.cache && !other.versus) return i;
  }
  return std::nullopt;
}

/// How well `other` fits as the baseline of `row`; negative: not at all.
int fitness(const PlannedRow& row, const PlannedRow& other, const std::string& impl) {
  const bool fits = other.mode == Mode::Perf && other.one->impl->name == impl && other.versus == row.versus &&
                    other.cache == row.cache && other.one->forms == row.one->forms;
  if (!fits) return -1;
  return (other.one->tune == row.one->tune ? 2 : 0) + (other.one->name == row.one->name ? 1 : 0);
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

}  // namespace

std::vector<PlannedGroup> plan_rows(std::span<const Case* const> cases, std::optional<Mode> mode,
                                    bool versus) {
  const auto wants = [&](const Case& one, Mode row) {
    return (one.mode == row || one.mode == Mode::Both) && (!mode || *mode == row || *mode == Mode::Both);
  };
  std::vector<PlannedGroup> groups;
  for (const Group& group : group_by_data(cases)) {
    PlannedGroup rows;
    for (const Mode row : {Mode::Accu, Mode::Perf}) {
      for (const Case* one : group.cases) {
        if (!wants(*one, row)) continue;
        for (const Cache cache : caches_of(*one, row)) {
          rows.push_back({one, row, false, cache});
          if (versus) rows.push_back({one, row, true, cache});
        }
      }
    }
    if (!rows.empty()) groups.push_back(std::move(rows));
  }
  refuse_equal_ids(groups);
  return groups;
}

CaseInfo row_info(const PlannedRow& row, const RowNames& names) {
  CaseInfo info = case_info(*row.one, row.mode);
  if (row.mode == Mode::Perf) info.cache = name_of(row.cache);
  if (row.cache == Cache::Cold) info.id += cold_suffix;
  if (row.versus) info.id += versus_suffix;
  info.shaders = row.versus ? names.versus : names.shaders;
  return info;
}

std::vector<Baseline> choose_baselines(const PlannedGroup& group, const std::string& impl) {
  std::vector<Baseline> baselines(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PlannedRow& row = group[i];
    if (row.mode != Mode::Perf) continue;
    if (row.versus && impl.empty()) {
      baselines[i] = {true, own_version(group, row)};
    } else if (!impl.empty() && row.one->impl->name != impl) {
      baselines[i] = {true, row_of_impl(group, row, impl)};
    }
  }
  return baselines;
}

}  // namespace assay
