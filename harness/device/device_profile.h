#pragma once

#include "harness/device/device_info.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// The limits and features of a device, by which another device can plan, refuse and choose (--as-if).
struct DeviceProfile {
  std::string name;   ///< "vulkan_1_1_minimum"
  DeviceInfo device;  ///< limits that were not given are the least that Vulkan 1.1 requires
};

/// The largest profile that is read; `vulkaninfo --json` writes a quarter of a megabyte.
inline constexpr std::size_t most_profile_bytes = std::size_t{4} << 20;

/// Reads a profile in the JSON form of Vulkan Profiles, which `vulkaninfo --json` and profile_json() write:
/// what is read are the members that DeviceInfo has, of the capabilities that the file's one profile names.
/// `file` is its name for messages. Throws Error(Usage) with the JSON pointer of a member that is written
/// twice, is of another type, or is less than Vulkan requires or more than any device can have.
DeviceProfile parse_profile(std::string_view text, const std::string& file, std::string name);

/// Writes a device in that form. What the form has no place for (matrix shapes, shader cores, memory) is in
/// its member "assay". The textures of a device are not written: Vulkan requires those that are used here.
std::string profile_json(const DeviceInfo& device);

/// Returns what a device can do when it is to work as the profile's: the smaller of both limits and the
/// features and matrix shapes that both have. What only guides choices (shader cores, whether dot products
/// are accelerated, the kind of device) is the profile's; what the device is (driver, memory, timestamps)
/// stays. Its name says so: "llvmpipe as vulkan_1_1_minimum". Operations of subgroups that an older
/// assay did not write, and the memory model that Vulkan 1.3 requires, are as the device has them.
///
/// Subgroups have the profile's size if the device can be asked for it, else the nearest for which it can be
/// asked among the profile's sizes. If there is none they have the device's size, and no dispatch may require
/// another.
DeviceInfo restricted(const DeviceInfo& real, const DeviceProfile& profile);

/// The name of the device itself, without the profile's: by it people choose devices and write rules for
/// them.
std::string own_name(const DeviceInfo& device);

}  // namespace assay
