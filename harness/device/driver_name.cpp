#include "harness/device/driver_name.h"

namespace assay {

std::string driver_of(const DeviceInfo& device) {
  return device.driver_name + (device.driver_info.empty() ? "" : " ") + device.driver_info;
}

}  // namespace assay
