#pragma once

#include "harness/report/record/run_info.h"

#include <string>
#include <string_view>

namespace assay {

/// A device's name without vendor, driver and remarks in parentheses: "H100 80GB HBM3" for "NVIDIA H100 80GB
/// HBM3", "llvmpipe" for "llvmpipe (LLVM 15.0.6, 256 bits)".
std::string short_device_name(std::string_view name);

/// A key that identifies a device: its UUID, else its name. A software device is identified by its name and
/// the CPU, as its UUID changes with the driver's version. A device with a profile (--as-if) is another one.
std::string device_key(const RunInfo& run);

}  // namespace assay
