#pragma once

#include "harness/device/device_info.h"

#include <string>

namespace assay {

/// The device's driver and its version: "Acme 12.3".
std::string driver_of(const DeviceInfo& device);

}  // namespace assay
