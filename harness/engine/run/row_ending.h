#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

namespace assay {

/// Completes the record of a row with its outcome and the validation layer's messages.
void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context);

}  // namespace assay
