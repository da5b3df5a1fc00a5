#include "harness/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace assay::gpu {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string without_dashes(std::string text) {
  std::erase(text, '-');
  return text;
}

std::string listing(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += fmt::format("\n  {}: {} ({}, UUID {})", i, devices[i].name, devices[i].type, devices[i].uuid);
  }
  return text;
}

int rank_of(const DeviceInfo& device) {
  const std::array<std::string_view, 4> order{"discrete", "integrated", "virtual", "cpu"};
  return static_cast<int>(std::find(order.begin(), order.end(), device.type) - order.begin());
}

std::size_t best(const std::vector<DeviceInfo>& devices) {
  const auto found =
      std::min_element(devices.begin(), devices.end(),
                       [](const DeviceInfo& a, const DeviceInfo& b) { return rank_of(a) < rank_of(b); });
  return static_cast<std::size_t>(found - devices.begin());
}

std::optional<std::size_t> as_index(std::string_view text, std::size_t count) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index >= count) {
    return std::nullopt;
  }
  return index;
}

template <class Match>
std::vector<std::size_t> matching(const std::vector<DeviceInfo>& devices, const Match& match) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (match(devices[i])) {
      found.push_back(i);
    }
  }
  return found;
}

/// A full name takes precedence over a part of one: "A100" means the A100 even if there is an "A100 PCIe".
std::vector<std::size_t> by_name(const std::vector<DeviceInfo>& devices, const std::string& wanted) {
  const auto whole =
      matching(devices, [&](const DeviceInfo& device) { return lower(device.name) == wanted; });
  if (!whole.empty()) {
    return whole;
  }
  return matching(devices, [&](const DeviceInfo& device) {
    return lower(device.name).find(wanted) != std::string::npos;
  });
}

std::size_t pick_one(const std::vector<DeviceInfo>& devices, const std::string& asked) {
  if (const auto index = as_index(asked, devices.size())) {
    return *index;
  }
  const std::string wanted = lower(asked);
  const auto same_uuid =
      matching(devices, [&](const DeviceInfo& device) { return device.uuid == without_dashes(wanted); });
  const std::vector<std::size_t> found = !same_uuid.empty() ? same_uuid : by_name(devices, wanted);
  if (found.empty()) {
    throw Error(fmt::format("selecting device '{}': no device has this index, UUID or name; there are:{}",
                            asked, listing(devices)));
  }
  if (found.size() > 1) {
    throw Error(fmt::format("selecting device '{}': {} devices match; name one by its index or UUID:{}",
                            asked, found.size(), listing(devices)));
  }
  return found.front();
}

void add(std::vector<std::size_t>& selected, std::size_t index) {
  if (std::find(selected.begin(), selected.end(), index) == selected.end()) {
    selected.push_back(index);
  }
}

}  // namespace

std::vector<std::size_t> select_devices(const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& asked) {
  if (devices.empty()) {
    throw Error(
        "selecting a device: there is no Vulkan 1.1 device with a compute queue; install the device's "
        "driver, or the package mesa-vulkan-drivers for a CPU device",
        ExitCode::NoDevice);
  }
  if (asked.empty()) {
    return {best(devices)};
  }
  std::vector<std::size_t> selected;
  for (const std::string& text : asked) {
    if (lower(text) == "all") {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        add(selected, i);
      }
    } else {
      add(selected, pick_one(devices, text));
    }
  }
  return selected;
}

}  // namespace assay::gpu
