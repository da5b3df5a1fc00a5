#pragma once

#include "harness/device/device_info.h"
#include "harness/engine/energy/energy_meter.h"

#include <filesystem>

namespace assay {

// Meters of Linux's /sys, whose folder is `sys`. Units of the files:
// Documentation/ABI/testing/sysfs-class-hwmon, sysfs-class-powercap and sysfs-class-power of the kernel.

/// The sensor of the device's driver, found by the PCI address: energy1_input, power1_average or
/// power1_input.
FoundMeter hwmon_meter(const DeviceInfo& device, const std::filesystem::path& sys);

/// The counters of energy of all the processor's packages, added up; of an integrated device they include the
/// processors. Most systems let only root read them.
FoundMeter rapl_meter(const std::filesystem::path& sys);

/// The battery that the machine runs on, while it is discharged: power_now, or current_now times voltage_now.
FoundMeter battery_meter(const std::filesystem::path& sys);

}  // namespace assay
