#pragma once

#include "harness/report/record/report_builder.h"

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {

/// What the run of a shard has told.
struct ShardJournal {
  explicit ShardJournal(std::string path) : name(std::move(path)) {}

  std::string name;  ///< in messages: the path of its journal
  ReportBuilder journal;
};

using ShardJournals = std::deque<ShardJournal>;

/// Rows of groups that no shard has, by the groups' places in the whole plan.
using MissingGroups = std::map<std::size_t, std::vector<RowInfo>>;

/// Shards of one run, put together: what that run would have told. `shards` must outlive it, and have a plan
/// each.
class MergedShards {
 public:
  /// A run of all rows is the only shard of itself. Throws Error(Usage) that names both where two shards are
  /// no parts of one run (device, driver, binary, case files, shaders, seed or plan differ), or have a group
  /// both.
  explicit MergedShards(const ShardJournals& shards);

  /// The circumstances of the merged run: those of its first shard, the ceilings and the timer of the first
  /// that has some.
  RunInfo run(const std::string& run_id) const;
  /// How many groups the whole plan has.
  std::size_t all_groups() const { return all_groups_; }
  /// How many shards it was divided into, and which of them are not there, from 1 on.
  int count() const;
  std::vector<int> missing_shards() const;
  /// Places of the groups that no shard has: `missing` must tell the rows of all of these.
  std::vector<std::size_t> missing_groups() const;

  /// Tells what a run of all rows would have told after its circumstances: the plan, then what each row told,
  /// in the plan's order. A row that was running when its shard was killed ends as INTERRUPTED, one that
  /// its shard did not reach as MISSING, as rows of `missing` do: a run that goes on with the merged one runs
  /// them.
  void tell(const MissingGroups& missing, RunListener& listener) const;

 private:
  /// Where the rows of a group are.
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
