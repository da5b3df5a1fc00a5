#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <optional>

namespace assay {

/// The reason not to run a row, if there is one: INVALID, SKIPPED, UNSUPPORTED, or what went wrong while its
/// program was built. Else the row has its program.
std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context);

/// Judges a row that has its program, whose data are those of its group. One of mode perf that passes is
/// ready to be timed then. Throws what outcome_of() knows.
Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context);

}  // namespace assay
