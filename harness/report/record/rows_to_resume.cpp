#include "harness/report/record/rows_to_resume.h"

#include <algorithm>
#include <set>
#include <span>

namespace assay {
namespace {

/// Whether the rounds are plausible, as later rounds continue from them: a journal that was edited by hand
/// may hold any number.
bool has_possible_rounds(std::span<const Block> blocks) {
  constexpr int most_rounds = 1'000'000;
  return std::ranges::all_of(
      blocks, [](const Block& block) { return block.round >= 0 && block.round < most_rounds; });
}

}  // namespace

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
    const bool may_kill = events.killed + 1 >= most_kills;  // then killed_rows() does not run it again
    if (was_lost && !may_kill && events.end->retry.empty()) untried.emplace(row, *events.end);
  }
  return untried;
}

}  // namespace assay
