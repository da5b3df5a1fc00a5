#include "harness/commands/run/shards/run_shard.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/journal/journal.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {

namespace {

/// Fixed cost of a row in addition to its measured time, so that many rows that take no time do not all go to
/// one shard.
constexpr double least_ms = 0.1;

/// Average time of one or more rows.
struct Average {
  double sum = 0;
  int rows = 0;

  void add(double ms) {
    sum += ms;
    ++rows;
  }
  double value() const { return sum / rows; }
};

class EarlierRows {
 public:
  explicit EarlierRows(const RunReport& earlier) {
    for (const Record& record : earlier.records) {
      if (goes_on_after(record.status)) continue;
      const RowInfo& info = record.info;
      const double reference_ms = record.accuracy ? record.accuracy->reference_ms : 0;
      rows_[assay::key_of(info)] = {record.total_ms, reference_ms};
      of_op_[{info.op, info.mode}].add(record.total_ms);
      of_mode_[info.mode].add(record.total_ms);
    }
  }

  double cost_of(const PlannedGroup& group) const {
    double rows_ms = 0;
    double reference_ms = 0;  // the reference is made once for all rows of the group
    for (const PlannedRow& row : group) {
      const auto found = rows_.find(key_of(row));
      rows_ms += std::max(least_ms, found != rows_.end() ? found->second.first : guess(row));
      if (found != rows_.end()) reference_ms = std::max(reference_ms, found->second.second);
    }
    return rows_ms + reference_ms;
  }

 private:
  static RowKey key_of(const PlannedRow& row) {
    return {row_id(row), std::string(name_of(row.mode)), row.cache == Cache::Cold ? "cold" : ""};
  }

  double guess(const PlannedRow& row) const {
    const std::string mode(name_of(row.mode));
    if (const auto found = of_op_.find({row.test_case->op->name, mode}); found != of_op_.end())
      return found->second.value();
    const auto found = of_mode_.find(mode);
    return found == of_mode_.end() ? 1 : found->second.value();
  }

  std::map<RowKey, std::pair<double, double>> rows_;  ///< ms of the row, and of its reference
  std::map<std::pair<std::string, std::string>, Average> of_op_;
  std::map<std::string, Average> of_mode_;
};

}  // namespace

std::vector<double> measured_costs(std::span<const PlannedGroup> groups, const RunReport& earlier) {
  const EarlierRows rows(earlier);
  std::vector<double> costs;
  costs.reserve(groups.size());
  for (const PlannedGroup& group : groups) costs.push_back(rows.cost_of(group));
  return costs;
}

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
