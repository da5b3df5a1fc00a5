#include "harness/report/record/device_key.h"

#include "harness/report/record/device_name.h"

namespace assay {

std::string device_key(const RunInfo& run) {
  const DeviceInfo& device = run.device;
  if (device.is_cpu()) return "cpu:" + short_device_name(device.name) + ":" + run.cpu;
  return device.uuid.empty() ? "name:" + device.name : "uuid:" + device.uuid;
}

}  // namespace assay
