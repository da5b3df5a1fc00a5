#include "harness/report/record/device_name.h"

#include "harness/base/text.h"

#include <algorithm>
#include <array>
#include <vector>

namespace assay {

std::string short_device_name(std::string_view name) {
  constexpr std::array vendors = {"NVIDIA", "AMD", "Intel", "Qualcomm", "ARM", "Apple"};
  std::string outside;
  int depth = 0;
  for (const char c : printable(name)) {
    if (c == ')' && depth > 0) {
      --depth;
      outside += ' ';
    } else if (c == '(') {
      ++depth;
    } else if (depth == 0) {
      outside += c;
    }
  }
  std::vector<std::string> words = words_in(outside);
  if (words.size() > 1 && std::ranges::find(vendors, words.front()) != vendors.end()) {
    words.erase(words.begin());
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "device" : text;
}

std::string device_key(const RunInfo& run) {
  const DeviceInfo& device = run.device;
  const std::string profile = device.as_if.empty() ? "" : " as " + device.as_if;
  if (device.is_cpu()) return "cpu:" + short_device_name(device.name) + ":" + run.cpu + profile;
  if (device.uuid.empty()) return "name:" + device.name;  // a name includes the profile's
  return "uuid:" + device.uuid + profile;
}

}  // namespace assay
