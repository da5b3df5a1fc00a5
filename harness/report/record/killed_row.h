#pragma once

#include "harness/report/record/report_builder.h"

#include <optional>

namespace assay {

/// So often a row is run again that the run was killed with, the first time counted.
inline constexpr int most_kills = 3;

struct KilledRow {
  RowIndex row = 0;
  RowEnd end;
};

/// How the row ends that ran when the run was killed, if there is one: INTERRUPTED, and it is run again;
/// CRASH where two runs before were killed with it as well, as it may be what takes the machine down.
std::optional<KilledRow> killed_row(const ReportBuilder& journal);

}  // namespace assay
