#pragma once

#include "harness/report/journal/report_builder.h"

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {

/// The journal of a shard's run.
struct ShardJournal {
  explicit ShardJournal(std::string path) : name(std::move(path)) {}

  std::string name;  ///< path of its journal, for messages
  ReportBuilder journal;
};

using ShardJournals = std::deque<ShardJournal>;

/// The rows of groups that no shard has, by the groups' places in the whole plan.
using MissingGroups = std::map<std::size_t, std::vector<RowInfo>>;

/// Shards of one run, merged: the events that the whole run would have had. `shards` must outlive this, and
/// each must have a plan.
class MergedShards {
 public:
  /// A run of all rows counts as its own only shard. Throws Error(Usage) that names both shards if two are
  /// not parts of one run (device, driver, binary, case files, shaders, seed or plan differ), or both have a
  /// group.
  explicit MergedShards(const ShardJournals& shards);

  /// The circumstances of the merged run: from its first shard, with the ceilings and the timer of the first
  /// shard that has them.
  RunInfo run(const std::string& run_id) const;
  /// The number of groups in the whole plan.
  std::size_t all_groups() const { return all_groups_; }
  /// The number of shards that the run was divided into, and the missing ones, from 1 on.
  int count() const;
  std::vector<int> missing_shards() const;
  /// Places of the groups that no shard has: `missing` must contain the rows of all of these.
  std::vector<std::size_t> missing_groups() const;

  /// Sends the events that a run of all rows would have sent after its circumstances: the plan, then each
  /// row's events, in the plan's order. A row that was running when its shard was killed ends as INTERRUPTED,
  /// a row that its shard did not reach as MISSING, like the rows of `missing`: a run that resumes the merged
  /// one runs them.
  void tell(const MissingGroups& missing, RunListener& listener) const;
  /// Whether every shard has ended, and no rows are missing: the merged run is done then.
  bool is_complete(const MissingGroups& missing) const;

 private:
  /// The place of a group's rows.
  struct Place {
    const ShardJournal* shard = nullptr;
    RowIndex first = 0;
    std::size_t rows = 0;
  };

  void add(const ShardJournal& shard);
  void put(std::size_t group, const Place& place);
  std::vector<RowInfo> plan(const MissingGroups& missing) const;
  std::string words_for_missing() const;

  const ShardJournals& shards_;
  std::size_t all_groups_ = 0;
  std::map<std::size_t, Place> places_;
};

}  // namespace assay::app
