#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// A key that identifies a device: its UUID, else its name. A software device is identified by its name and
/// the CPU, as its UUID changes with the driver's version.
std::string device_key(const RunInfo& run);

}  // namespace assay
