#pragma once

#include "harness/device/device_info.h"
#include "harness/engine/energy/energy_meter.h"

#include <filesystem>
#include <string>

namespace assay {

/// Where meters are looked for; tests name other places.
struct EnergyPlaces {
  std::filesystem::path sys = "/sys";
  std::string nvml = "libnvidia-ml.so.1";
};

/// Finds the meter that covers the device most closely and can be read now. They are tried in this order:
/// NVML (devices of NVIDIA), hwmon (by the device's PCI address), RAPL (CPUs and integrated devices), a
/// battery that the whole machine runs on.
FoundMeter find_energy_meter(const DeviceInfo& device, const EnergyPlaces& places = {});

/// One line for a run: the meter's source, or "none: " and why.
std::string meter_line(const FoundMeter& found);

}  // namespace assay
