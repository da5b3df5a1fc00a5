#pragma once

#include "harness/device/device_info.h"
#include "harness/engine/energy/energy_meter.h"

#include <string>

namespace assay {

/// A meter of NVIDIA's management library: the device's counter of energy, else its power. `library` is given
/// to dlopen. The device is found by its PCI address, else by its UUID.
FoundMeter nvml_meter(const DeviceInfo& device, const std::string& library);

}  // namespace assay
