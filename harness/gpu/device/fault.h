#pragma once

#include "harness/gpu/device/device.h"

#include <string>
#include <vector>

namespace assay::gpu {

/// A driver's report on a lost device (VK_EXT_device_fault).
struct Fault {
  std::string description;
  struct Address {
    VkDeviceFaultAddressTypeEXT type = VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
    std::uint64_t address = 0;
    std::uint64_t precision = 0;  ///< bytes; the fault lies in the block of this size and alignment
  };
  std::vector<Address> addresses;
  std::vector<std::string> vendor;  ///< "description (code, data)"
};

/// " (the driver says: MMU fault; invalid read at 0x7f00, within 4096 bytes)", empty when the fault has no
/// content.
std::string to_string(const Fault& fault);

/// The fault of a device that has just been lost, as text; empty when its driver does not report faults.
std::string fault_text(const Device::State& device);

}  // namespace assay::gpu
