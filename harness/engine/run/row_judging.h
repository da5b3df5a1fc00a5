#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <optional>

namespace assay {

/// Plans a row: gives it its program, or returns why it is not run: INVALID, SKIPPED, UNSUPPORTED, or what
/// went wrong while its program was built.
std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context);

/// Checks the answer of a row that has its program, on its group's data. A row of mode perf that passes is
/// then ready to be timed. Throws the exceptions that outcome_of() handles.
Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context);

/// Completes the record of a row with its outcome and the validation layer's messages.
void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context);

}  // namespace assay
