#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/outcome.h"
#include "harness/engine/run/row_program.h"

#include <optional>

namespace assay {

/// What a row is to run, or why it is not run.
struct RowPlan {
  RowProgram made;
  std::optional<Outcome> not_run;  ///< INVALID, SKIPPED, UNSUPPORTED, or what went wrong while it was built
};

/// `info`: the row in the words of its reports. `ceilings`: of the device, as far as they are known. Any
/// thread may ask.
RowPlan plan_of_row(const PlannedRow& row, const RowInfo& info, const DeviceContext& context,
                    const Ceilings& ceilings);

}  // namespace assay
