#pragma once

#include "harness/cases/expectations.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_options.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/events.h"
#include "harness/report/record/rows_left.h"

#include <span>

namespace assay {

/// Runs the rows that are left on one device, group after group, and tells `listener` what happens to each
/// from its begin to its end; events count the rows from the first of `groups` on, in their order, which the
/// plan must have. Nothing is told of other rows. What goes wrong with a row becomes its status; only a
/// failure to record (unwritable output) is thrown. After a lost device the rows that are left end as
/// MISSING. When a stop is requested, so are they, and the row that was running is INTERRUPTED.
void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const RowsLeft& left, const Expectations& expectations, const DeviceRunOptions& options,
                   RunListener& listener);

}  // namespace assay
