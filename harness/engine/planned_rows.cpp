#include "harness/engine/planned_rows.h"

#include "harness/core/error.h"
#include "harness/engine/case_info.h"

#include <fmt/format.h>

#include <unordered_set>

namespace assay {
namespace {

constexpr const char* versus_suffix = "/versus";

void refuse_equal_ids(std::span<const Case* const> cases) {
  std::unordered_set<std::string> ids;
  for (const Case* one : cases) ids.insert(one->id);
  for (const Case* one : cases) {
    if (!ids.contains(one->id + versus_suffix)) continue;
    throw Error(fmt::format(
        "planning to compare shaders: the case '{0}{1}' has the id that case '{0}' would have with the other "
        "version; leave one of them out with --filter",
        one->id, versus_suffix));
  }
}

std::optional<std::size_t> own_version(const PlannedGroup& group, const PlannedRow& row) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].one == row.one && group[i].mode == row.mode && !group[i].versus) return i;
  }
  return std::nullopt;
}

/// How well `other` fits as the baseline of `row`; negative: not at all.
int fitness(const PlannedRow& row, const PlannedRow& other, const std::string& impl) {
  const bool fits = other.mode == Mode::Perf && other.one->impl->name == impl && other.versus == row.versus &&
                    other.one->forms == row.one->forms;
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
  if (versus) refuse_equal_ids(cases);
  const auto wants = [&](const Case& one, Mode row) {
    return (one.mode == row || one.mode == Mode::Both) && (!mode || *mode == row || *mode == Mode::Both);
  };
  std::vector<PlannedGroup> groups;
  for (const Group& group : group_by_data(cases)) {
    PlannedGroup rows;
    for (const Mode row : {Mode::Accu, Mode::Perf}) {
      for (const Case* one : group.cases) {
        if (!wants(*one, row)) continue;
        rows.push_back({one, row});
        if (versus) rows.push_back({one, row, true});
      }
    }
    if (!rows.empty()) groups.push_back(std::move(rows));
  }
  return groups;
}

CaseInfo row_info(const PlannedRow& row, const RowNames& names) {
  CaseInfo info = case_info(*row.one, row.mode);
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
