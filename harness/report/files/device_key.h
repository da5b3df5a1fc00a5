#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// What tells devices apart: the UUID, else the name. Software devices have UUIDs that name their driver's
/// version, and no silicon of their own: they go by their name and the CPU.
std::string device_key(const RunInfo& run);

}  // namespace assay
