#pragma once

#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/run_report.h"

#include <span>
#include <vector>

namespace assay::app {

/// Milliseconds that each group is expected to take, of what its rows took in an earlier run, the making of
/// its reference included. A row that the run did not have, or that was cut short there, takes what rows of
/// its op and mode took on average; else those of its mode; else 1 ms.
std::vector<double> measured_costs(std::span<const PlannedGroup> groups, const RunReport& earlier);

}  // namespace assay::app
