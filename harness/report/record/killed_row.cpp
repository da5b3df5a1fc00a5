#include "harness/report/record/killed_row.h"

#include <fmt/format.h>

#include <string>

namespace assay {

std::optional<KilledRow> killed_row(const ReportBuilder& journal) {
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    if (!events.running || events.end) continue;
    KilledRow killed{row, {.status = Status::Interrupted, .reason = std::string(killed_while_running)}};
    if (events.killed + 1 < most_kills) return killed;
    killed.end.status = Status::Crash;
    killed.end.reason = fmt::format(
        "the run was killed while this row ran, and so it was the {} times that it was gone on with: the row "
        "may "
        "be what takes the machine down",
        events.killed);
    return killed;
  }
  return std::nullopt;
}

}  // namespace assay
