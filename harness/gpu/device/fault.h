#pragma once

#include "harness/gpu/device/device.h"

#include <string>
#include <vector>

namespace assay::gpu {

/// What a driver says of a lost device (VK_EXT_device_fault).
struct Fault {
  std::string description;
  struct Address {
    VkDeviceFaultAddressTypeEXT type = VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
    std::uint64_t address = 0;
    std::uint64_t precision = 0;  ///< the fault lies within so many bytes, aligned to them
  };
  std::vector<Address> addresses;
  std::vector<std::string> vendor;  ///< "description (code, data)"
};

/// " (the driver says: MMU fault; invalid read at 0x7f00, within 4096 bytes)", empty where it says nothing.
std::string to_string(const Fault& fault);

/// The same of a device that was lost just now; empty where its driver does not tell.
std::string fault_text(const Device::State& device);

}  // namespace assay::gpu
