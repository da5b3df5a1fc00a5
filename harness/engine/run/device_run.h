#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_options.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/events.h"
#include "harness/report/record/rows_left.h"

#include <span>
#include <string>

namespace assay {

/// Runs the rows in `left` on one device, group after group, and reports each to `listener` from its begin to
/// its end. Events number the rows in the order of `groups`, which must be that of the plan. No events are
/// sent for other rows. An error of a row becomes its status; only a failure to record (unwritable output) is
/// thrown. After the device is lost, a dump cannot be written or a stop is requested, the remaining rows end
/// as MISSING; a row that a stop interrupts is INTERRUPTED. Returns why a dump could not be written, for
/// which no row is to blame; empty if none failed.
[[nodiscard]] std::string run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders,
                                        std::span<const PlannedGroup> groups, const RowsLeft& left,
                                        const Expectations& expectations, const DeviceRunOptions& options,
                                        RunListener& listener);

}  // namespace assay
