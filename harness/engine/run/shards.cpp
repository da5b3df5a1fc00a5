#include "harness/engine/run/shards.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/report/record/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_set>
#include <utility>

namespace assay {

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
