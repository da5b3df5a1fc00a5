#include "harness/commands/run/shards/run_shard.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run/shards/measured_costs.h"
#include "harness/engine/run/shards.h"
#include "harness/report/journal/journal.h"

#include <fmt/format.h>

#include <ostream>
#include <vector>

namespace assay::app {
namespace {

/// "shard 2 of 8 (--shard): 812 of 6529 rows, in 103 of 824 groups\n"
std::string shard_line(const AskedShard& asked, const ShardInfo& info, std::span<const PlannedGroup> groups,
                       std::span<const std::size_t> taken) {
  std::size_t rows = 0;
  for (const std::size_t group : taken) rows += groups[group].size();
  std::string line =
      fmt::format("shard {} of {} ({}): {} of {} rows, in {} of {} groups that share data", info.index,
                  info.count, asked.by, rows, info.all_rows, taken.size(), info.all_groups);
  if (taken.empty()) line += "; this shard has nothing to run, and no report is written";
  return line + '\n';
}

/// The error for --balance without a shard.
constexpr const char* balance_alone =
    "dividing the rows: --balance needs a shard; add one, such as --shard 1/8";

}  // namespace

std::vector<std::size_t> taken_groups(const CaseOptions& options, const Shard& shard,
                                      std::span<const PlannedGroup> groups) {
  if (options.balance.empty()) return balanced(guessed_costs(groups), shard);
  return balanced(measured_costs(groups, read_journal(only_journal(options.balance))), shard);
}

std::vector<const Case*> listed_cases(const CaseOptions& options, const std::optional<AskedShard>& asked,
                                      std::vector<const Case*> selected) {
  if (!asked && !options.balance.empty()) throw Error(balance_alone);
  if (!asked) return selected;
  const Shard shard = asked->shard;
  const std::vector<PlannedGroup> groups = plan_rows(selected, options.selection().mode);
  return cases_of_shard(selected, groups, shard_info(groups, shard, taken_groups(options, shard, groups)));
}

ShardInfo shard_of_run(const RunOptions& options, std::span<const PlannedGroup> groups, std::ostream& log) {
  if (!options.resume.empty()) return options.resumed_shard;
  if (!options.shard) {
    if (!options.cases.balance.empty()) throw Error(balance_alone);
    return {};
  }
  const std::vector<std::size_t> taken = taken_groups(options.cases, options.shard->shard, groups);
  const ShardInfo info = shard_info(groups, options.shard->shard, taken);
  log << shard_line(*options.shard, info, groups, taken);
  return info;
}

}  // namespace assay::app
