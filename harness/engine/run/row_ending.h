#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

namespace assay {

/// Completes the record of a row that ended so: the validation layer's messages, how it compares with its
/// baseline. Its group is told how it ended.
void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context);

}  // namespace assay
