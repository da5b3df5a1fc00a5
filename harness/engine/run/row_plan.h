#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/outcome.h"
#include "harness/engine/run/row_program.h"

#include <optional>

namespace assay {

/// The program that a row runs, or why it is not run.
struct RowPlan {
  RowProgram made;
  std::optional<Outcome> not_run;  ///< INVALID, SKIPPED, UNSUPPORTED, or what went wrong while it was built
};

/// Plans a row. `info` is the row as reports describe it; `ceilings` are the device's, as far as they are
/// known. May be called from any thread.
RowPlan plan_of_row(const PlannedRow& row, const RowInfo& info, const DeviceContext& context,
                    const Ceilings& ceilings);

}  // namespace assay
