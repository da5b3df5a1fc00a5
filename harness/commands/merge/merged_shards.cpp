#include "harness/commands/merge/merged_shards.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/report/record/rows_to_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace assay::app {
namespace {

/// The first row of each group of a plan: rows of a group are consecutive.
std::vector<RowIndex> group_starts(const ReportBuilder& journal) {
  std::vector<RowIndex> starts;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    if (row == 0 || journal.info(row).group != journal.info(row - 1).group) starts.push_back(row);
  }
  return starts;
}

/// The division that a run belongs to; a run of all rows is its own only shard.
ShardInfo division_of(const ReportBuilder& journal, std::size_t groups) {
  ShardInfo shard = journal.run().shard;
  if (shard.is_part()) return shard;
  std::vector<std::size_t> all(groups);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return {
      .index = 1, .count = 1, .all_groups = groups, .all_rows = journal.rows(), .groups = number_ranges(all)};
}

std::string device_words(const RunInfo& run) {
  return fmt::format("the device {} ({})", run.device.name, run.device.uuid);
}

std::string part_words(const ShardInfo& shard) {
  return shard.is_part() ? fmt::format("one is a part of {}", shard.count) : "one has all rows";
}

/// Why two runs cannot be parts of one run, for a sentence; nullopt if they can.
std::optional<std::string> difference(const RunInfo& one, const RunInfo& other) {
  if (one.device.uuid != other.device.uuid || one.device.name != other.device.name)
    return fmt::format("they ran on {} and on {}", device_words(one), device_words(other));
  if (one.device.driver_info != other.device.driver_info)
    return fmt::format("their drivers are {} and {}", one.device.driver_info, other.device.driver_info);
  if (one.version != other.version)
    return fmt::format("they were made by assay {} and {}", one.version, other.version);
  if (const auto inputs = different_inputs(one.inputs, other.inputs)) return *inputs + " differ";
  if (one.inputs.contains("tuning") != other.inputs.contains("tuning"))
    return "one took a tuning file, the other did not (--tuning)";
  if (one.seed != other.seed) return fmt::format("their seeds are {} and {}", one.seed, other.seed);
  if ((one.secret_seed == 0) != (other.secret_seed == 0))
    return "one judged its timed rows on secret data, the other did not (--secret-seed)";
  if (one.shard.count != other.shard.count)
    return fmt::format("{} and {}", part_words(one.shard), part_words(other.shard));
  if (one.shard.all_groups != other.shard.all_groups || one.shard.plan_hash != other.shard.plan_hash)
    return "they were chosen from other rows: filters, tiers or modes differ";
  return std::nullopt;
}

/// Whether the run asked for energies, and its device did not tell them.
bool has_no_source(const RunInfo& run) {
  return run.energy.starts_with("none:");
}

/// The end, in the merged report, of a row that has none: a run that resumes the merged one runs it again.
RowEnd end_without_one(const RowEvents& row, const std::string& shard) {
  if (row.running) return {.status = Status::Interrupted, .reason = std::string(killed_while_running)};
  return {.status = Status::Missing, .reason = fmt::format("not reached ({})", shard)};
}

/// Sends all events of one row, with another index.
void tell_row(const ShardJournal& shard, RowIndex row, RowIndex as, RunListener& listener) {
  const RowEvents& events = shard.journal.events(row);
  if (events.begun) listener.begin(as);
  if (events.judged) listener.judged(as, *events.judged);
  for (const Block& block : events.blocks) listener.block(as, block);
  listener.end(as, events.end ? *events.end : end_without_one(events, shard.name));
}

}  // namespace

MergedShards::MergedShards(const ShardJournals& shards) : shards_(shards) {
  const ShardJournal& first = shards.front();
  for (const ShardJournal& shard : shards) {
    if (const auto why = difference(first.journal.run(), shard.journal.run())) {
      throw Error(fmt::format("merging shards: {} and {} are not parts of one run: {}", first.name,
                              shard.name, *why));
    }
    add(shard);
  }
}

void MergedShards::add(const ShardJournal& shard) {
  const std::vector<RowIndex> starts = group_starts(shard.journal);
  const ShardInfo division = division_of(shard.journal, starts.size());
  const std::vector<std::size_t> groups = groups_of(division);
  if (groups.size() != starts.size()) {
    throw Error(fmt::format("merging shards: {} should have {} groups of rows, but has {}: it is damaged",
                            shard.name, groups.size(), starts.size()));
  }
  all_groups_ = division.all_groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RowIndex end = i + 1 < starts.size() ? starts[i + 1] : shard.journal.rows();
    put(groups[i], {&shard, starts[i], end - starts[i]});
  }
}

void MergedShards::put(std::size_t group, const Place& place) {
  const auto [found, is_new] = places_.try_emplace(group, place);
  if (is_new) return;
  throw Error(
      fmt::format("merging shards: {} and {} both have the rows of {}: they are the same shard, or were "
                  "divided by --balance with different reports; leave one of them out",
                  found->second.shard->name, place.shard->name, place.shard->journal.info(place.first).id));
}

RunInfo MergedShards::run(const std::string& run_id) const {
  std::vector<const RunInfo*> runs;
  for (const ShardJournal& shard : shards_) runs.push_back(&shard.journal.run());
  std::ranges::stable_sort(runs, {}, [](const RunInfo* run) { return run->shard.index; });
  RunInfo merged = *runs.front();
  merged.run_id = run_id;
  merged.shard = {};
  merged.rule_notes.clear();
  merged.merged.clear();
  for (const RunInfo* run : runs) {
    merged.merged.push_back(run->run_id);
    merged.started_utc = std::min(merged.started_utc, run->started_utc);
    if (!merged.ceilings.measured()) merged.ceilings = run->ceilings;
    if (merged.timer.unit_ns <= 0) merged.timer = run->timer;
    if (merged.energy.empty() || (has_no_source(merged) && !run->energy.empty())) merged.energy = run->energy;
  }
  return merged;
}

int MergedShards::count() const {
  return std::max(1, shards_.front().journal.run().shard.count);
}

std::vector<int> MergedShards::missing_shards() const {
  std::set<int> there;
  for (const ShardJournal& shard : shards_) there.insert(std::max(1, shard.journal.run().shard.index));
  std::vector<int> missing;
  for (int index = 1; index <= count(); ++index) {
    if (!there.contains(index)) missing.push_back(index);
  }
  return missing;
}

std::vector<std::size_t> MergedShards::missing_groups() const {
  std::vector<std::size_t> missing;
  for (std::size_t group = 0; group < all_groups_; ++group) {
    if (!places_.contains(group)) missing.push_back(group);
  }
  return missing;
}

std::vector<RowInfo> MergedShards::plan(const MissingGroups& missing) const {
  std::vector<RowInfo> plan;
  for (std::size_t group = 0; group < all_groups_; ++group) {
    const auto found = places_.find(group);
    if (found == places_.end()) {
      const std::vector<RowInfo>& rows = missing.at(group);
      plan.insert(plan.end(), rows.begin(), rows.end());
      continue;
    }
    const Place& place = found->second;
    for (std::size_t row = 0; row < place.rows; ++row)
      plan.push_back(place.shard->journal.info(place.first + row));
  }
  return plan;
}

std::string MergedShards::words_for_missing() const {
  constexpr std::size_t most = 10;
  const std::vector<int> missing = missing_shards();
  if (missing.empty())
    return "not reached: no shard has it, as they were divided by --balance with different reports";
  std::vector<std::string> numbers;
  for (const int shard : missing) numbers.push_back(std::to_string(shard));
  return fmt::format("not reached: of {} shards {} {} missing", count(), first_names(numbers, most),
                     numbers.size() == 1 ? "is" : "are");
}

void MergedShards::tell(const MissingGroups& missing, RunListener& listener) const {
  listener.plan(plan(missing));
  const std::string why_missing = words_for_missing();
  RowIndex row = 0;
  for (std::size_t group = 0; group < all_groups_; ++group) {
    const auto found = places_.find(group);
    if (found == places_.end()) {
      for (std::size_t i = 0; i < missing.at(group).size(); ++i)
        listener.end(row++, {.status = Status::Missing, .reason = why_missing});
      continue;
    }
    const Place& place = found->second;
    for (std::size_t i = 0; i < place.rows; ++i) tell_row(*place.shard, place.first + i, row++, listener);
  }
}

bool MergedShards::is_complete(const MissingGroups& missing) const {
  return missing.empty() &&
         std::ranges::all_of(shards_, [](const ShardJournal& shard) { return shard.journal.is_complete(); });
}

}  // namespace assay::app
