#pragma once

#include "harness/report/compare/machine_shift.h"
#include "harness/report/compare/row_verdict.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace assay {

/// A machine's shift, as compare's and a night's JSON have it; reports/README.md names its fields.
nlohmann::ordered_json machine_json(const MachineShift& shift);
nlohmann::ordered_json machines_json(const std::vector<MachineShift>& shifts);

/// Adds machine_ratio, net_ratio, net_low and net_high, if a shift was taken out of the row's times.
void add_net_ratio(nlohmann::ordered_json& json, const RowVerdict& row);

}  // namespace assay
