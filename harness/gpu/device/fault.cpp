#include "harness/gpu/device/fault.h"

#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::gpu {
namespace {

/// Limit for addresses and for vendor entries; the first few suffice.
constexpr std::uint32_t most_entries = 8;

std::string_view name_of(VkDeviceFaultAddressTypeEXT type) {
  switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
      return "invalid read";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
      return "invalid write";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
      return "invalid execution";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
      return "instruction pointer";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
      return "invalid instruction pointer";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
      return "instruction pointer fault";
    default:
      return "access";
  }
}

/// The driver's text in an array of fixed size, which need not be null-terminated.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return printable(std::string(text, std::find(text, text + N, '\0')));
}

}  // namespace

std::string to_string(const Fault& fault) {
  std::vector<std::string> parts;
  if (!fault.description.empty()) parts.push_back(fault.description);
  for (const Fault::Address& at : fault.addresses) {
    std::string text = fmt::format("{} at {:#x}", name_of(at.type), at.address);
    if (at.precision > 1) text += fmt::format(", within {} bytes", at.precision);
    parts.push_back(std::move(text));
  }
  parts.insert(parts.end(), fault.vendor.begin(), fault.vendor.end());
  return parts.empty() ? "" : fmt::format(" (the driver says: {})", fmt::join(parts, "; "));
}

std::string fault_text(const Device::State& device) {
  if (!device.tells_faults || device.table.vk.vkGetDeviceFaultInfoEXT == nullptr) return {};
  std::array<VkDeviceFaultAddressInfoEXT, most_entries> addresses{};
  std::array<VkDeviceFaultVendorInfoEXT, most_entries> vendor{};
  VkDeviceFaultCountsEXT counts{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
  counts.addressInfoCount = most_entries;
  counts.vendorInfoCount = most_entries;
  VkDeviceFaultInfoEXT info{VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
  info.pAddressInfos = addresses.data();
  info.pVendorInfos = vendor.data();
  if (device.table.vk.vkGetDeviceFaultInfoEXT(device.table.device, &counts, &info) < 0) return {};
  Fault fault{.description = text_of(info.description)};
  for (std::uint32_t i = 0; i < std::min(counts.addressInfoCount, most_entries); ++i) {
    const VkDeviceFaultAddressInfoEXT& at = addresses.at(i);
    if (at.addressType == VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT) continue;
    fault.addresses.push_back({at.addressType, at.reportedAddress, at.addressPrecision});
  }
  for (std::uint32_t i = 0; i < std::min(counts.vendorInfoCount, most_entries); ++i) {
    const VkDeviceFaultVendorInfoEXT& said = vendor.at(i);
    fault.vendor.push_back(fmt::format("{} ({:#x}, {:#x})", text_of(said.description), said.vendorFaultCode,
                                       said.vendorFaultData));
  }
  return to_string(fault);
}

}  // namespace assay::gpu
