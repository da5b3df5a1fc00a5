#include "harness/report/record/rows_to_run.h"

#include "harness/base/error.h"
#include "harness/report/record/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

std::vector<std::array<std::size_t, 3>> number_ranges(std::span<const std::size_t> ascending) {
  std::vector<std::array<std::size_t, 3>> ranges;
  for (std::size_t i = 0; i < ascending.size();) {
    const std::size_t first = ascending[i];
    const std::size_t step = i + 1 < ascending.size() ? ascending[i + 1] - first : 1;
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[last] == step) ++last;
    // Two numbers alone are not a progression: the second may begin a longer one.
    if (last == i + 1 && last + 1 < ascending.size()) last = i;
    ranges.push_back({first, ascending[last], last == i ? 1 : step});
    i = last + 1;
  }
  return ranges;
}

std::vector<std::size_t> groups_of(const ShardInfo& shard) {
  if (shard.count < 1 || shard.count > most_shards || shard.index < 1 || shard.index > shard.count) {
    throw Error(
        fmt::format("reading which rows a shard has: there is no shard {} of {}; a run has at most {}",
                    shard.index, shard.count, most_shards));
  }
  if (shard.all_groups > most_rows_of_a_run) {
    throw Error(fmt::format("reading which rows a shard has: no run has {} groups; the most are {}",
                            shard.all_groups, most_rows_of_a_run));
  }
  std::vector<std::size_t> groups;
  for (const auto& [first, last, step] : shard.groups) {
    const bool follows = groups.empty() || first > groups.back();
    if (!follows || first > last || last >= shard.all_groups || step == 0 || (last - first) % step != 0) {
      throw Error(
          fmt::format("reading which rows shard {} of {} has: there are no groups {} to {} by {} of {}",
                      shard.index, shard.count, first, last, step, shard.all_groups));
    }
    for (std::size_t group = first; group <= last; group += step) groups.push_back(group);
  }
  return groups;
}

std::set<RowIndex> baselines_in(std::size_t rows, const std::function<const RowInfo&(RowIndex)>& info_of) {
  std::unordered_map<std::string_view, RowIndex> timed;
  for (RowIndex row = 0; row < rows; ++row) {
    if (info_of(row).mode == "perf") timed.emplace(info_of(row).id, row);
  }
  std::set<RowIndex> baselines;
  for (RowIndex row = 0; row < rows; ++row) {
    const std::string& baseline = info_of(row).baseline;
    const auto found = baseline.empty() ? timed.end() : timed.find(baseline);
    if (found != timed.end()) baselines.insert(found->second);
  }
  return baselines;
}

}  // namespace assay
