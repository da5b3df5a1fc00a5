#include "harness/report/record/rows_left.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

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

namespace {

RowEnd killed_end(const RowEvents& events) {
  if (events.killed + 1 < most_kills)
    return {.status = Status::Interrupted, .reason = std::string(killed_while_running)};
  return {.status = Status::Crash,
          .reason =
              fmt::format("the run was killed while this row ran, as it was {} times before: the row may be "
                          "what takes the machine down",
                          events.killed)};
}

}  // namespace

std::vector<KilledRow> killed_rows(const ReportBuilder& journal) {
  std::vector<KilledRow> killed;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    if (events.running && !events.end) killed.push_back({row, killed_end(events)});
  }
  return killed;
}

std::set<RowIndex> suspected_rows(const ReportBuilder& journal) {
  std::set<RowIndex> rows;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const std::optional<RowEnd>& end = journal.events(row).end;
    if (end && end->status == Status::Interrupted && end->reason == killed_while_running) rows.insert(row);
  }
  return rows;
}

}  // namespace assay
