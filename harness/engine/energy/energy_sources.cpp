#include "harness/engine/energy/energy_sources.h"

#include "harness/engine/energy/nvml_meter.h"
#include "harness/engine/energy/sys_meters.h"

#include <utility>

namespace assay {

FoundMeter find_energy_meter(const DeviceInfo& device, const EnergyPlaces& places) {
  constexpr std::uint32_t nvidia = 0x10de;
  std::string why_not;
  const auto is_found = [&](FoundMeter& found, const char* name) {
    if (found.meter) return true;
    why_not += (why_not.empty() ? "" : "; ") + std::string(name) + ": " + found.why_not;
    return false;
  };
  FoundMeter found;
  if (device.vendor_id == nvidia) {
    found = nvml_meter(device, places.nvml);
    if (is_found(found, "NVML")) return found;
  }
  if (!device.is_cpu()) {
    found = hwmon_meter(device, places.sys);
    if (is_found(found, "hwmon")) return found;
  }
  if (device.is_cpu() || device.type == "integrated") {
    found = rapl_meter(places.sys);
    if (is_found(found, "RAPL")) return found;
  }
  found = battery_meter(places.sys);
  if (is_found(found, "battery")) return found;
  return {nullptr, why_not};
}

std::string meter_line(const FoundMeter& found) {
  return found.meter ? found.meter->source() : "none: " + found.why_not;
}

}  // namespace assay
