#pragma once

#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/record.h"

#include <span>
#include <vector>

namespace assay::app {

/// Expected time of each group in milliseconds, from its rows' times in an earlier run, including its
/// reference. A row that the run did not have, or that was cut short there, counts with the average of its op
/// and mode; else of its mode; else 1 ms.
std::vector<double> measured_costs(std::span<const PlannedGroup> groups, const RunReport& earlier);

}  // namespace assay::app
