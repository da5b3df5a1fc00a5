#include "harness/report/journal/rows_to_resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

namespace assay {
namespace {

bool was_killed(const std::optional<RowEnd>& end) {
  return end && end->status == Status::Interrupted && end->reason == killed_while_running;
}

/// The number of kills while the row ran, the last one included.
int kills_of(const RowEvents& events) {
  return events.killed + (was_killed(events.end) ? 1 : 0);
}

bool is_running(const RowEvents& events) {
  return events.running && !events.end;
}

bool runs_alone(const RowEvents& events) {
  return kills_of(events) >= kills_before_alone && !events.is_finished();
}

RowEnd killed_end(const RowEvents& events, bool ran_alone) {
  if (!ran_alone) return {.status = Status::Interrupted, .reason = std::string(killed_while_running)};
  return {
      .status = Status::Crash,
      .reason = fmt::format("the run was killed while this row ran alone, and {} times before while it ran: "
                            "the row may be what takes the machine down",
                            events.killed)};
}

/// Whether the rounds are plausible, as later rounds continue from them: a journal that was edited by hand
/// may hold any number.
bool has_possible_rounds(std::span<const Block> blocks) {
  constexpr int most_rounds = 1'000'000;
  return std::ranges::all_of(
      blocks, [](const Block& block) { return block.round >= 0 && block.round < most_rounds; });
}

}  // namespace

std::vector<KilledRow> killed_rows(const ReportBuilder& journal) {
  std::vector<RowIndex> running;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    if (is_running(journal.events(row))) running.push_back(row);
  }
  std::vector<KilledRow> killed;
  for (const RowIndex row : running) {
    const RowEvents& events = journal.events(row);
    killed.push_back({row, killed_end(events, running.size() == 1 && runs_alone(events))});
  }
  return killed;
}

std::vector<RowIndex> rows_to_run_alone(const ReportBuilder& journal) {
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    if (runs_alone(journal.events(row))) rows.push_back(row);
  }
  return rows;
}

std::set<RowIndex> suspected_rows(const ReportBuilder& journal) {
  std::set<RowIndex> rows;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    if (was_killed(events.end) && !runs_alone(events)) rows.insert(row);
  }
  return rows;
}

RowsLeft rows_left(const ReportBuilder& journal) {
  const std::set<RowIndex> baselines =
      baselines_in(journal.rows(), [&](RowIndex row) -> const RowInfo& { return journal.info(row); });
  RowsLeft left;
  left.wanted.assign(journal.rows(), false);
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    left.wanted[row] = !events.is_finished();
    const bool matters = left.wanted[row] || baselines.contains(row);
    if (!has_possible_rounds(events.blocks)) continue;
    if (matters && events.judged && !events.blocks.empty())
      left.progress[row] = {events.judged->output_hash, events.blocks};
  }
  return left;
}

std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal) {
  std::map<RowIndex, RowEnd> untried;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    const bool was_lost = events.is_finished() && is_lost(events.end->status);
    const bool may_kill = events.killed >= kills_before_alone;  // then killed_rows() does not run it again
    if (was_lost && !may_kill && events.end->retry.empty()) untried.emplace(row, *events.end);
  }
  return untried;
}

}  // namespace assay
