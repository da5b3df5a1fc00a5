#include "harness/base/system_state.h"

#include "harness/base/file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace assay {

namespace {

namespace fs = std::filesystem;

// Units of the files, see Documentation/ABI/testing/sysfs-class-{thermal,power} and cpu-freq of the kernel.
constexpr double zone_units = 1000;   // in a degree
constexpr double battery_units = 10;  // in a degree
constexpr double khz_in_mhz = 1000;
constexpr double hz_in_mhz = 1e6;
/// Phones have a policy per cluster of processors, of which there are few; servers have one per processor.
constexpr std::size_t most_policies = 8;

std::optional<double> number_in(const fs::path& file) {
  double value = 0;
  if (std::ifstream stream(file); stream >> value) return value;
  return std::nullopt;
}

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// Zones that are not connected report values such as -273 or 250 degrees.
double temperature(const std::optional<double>& value, double units) {
  constexpr double coldest = -40, hottest = 150;
  const double degrees = value.value_or(0) / units;
  return degrees >= coldest && degrees <= hottest ? degrees : 0;
}

bool is_gpu(const fs::path& devfreq) {
  constexpr std::array<std::string_view, 3> words{"gpu", "mali", "kgsl"};
  const std::string name = devfreq.filename().string();
  return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != name.npos; });
}

}  // namespace

SystemSensors::SystemSensors(const fs::path& sys) {
  for (const fs::path& zone : sorted_entries(sys / "class/thermal")) {
    if (zone.filename().string().starts_with("thermal_zone") && number_in(zone / "temp"))
      zones_.push_back(zone / "temp");
  }
  for (const fs::path& supply : sorted_entries(sys / "class/power_supply")) {
    // A battery of a mouse or a keyboard is one of a device.
    if (word_in(supply / "type") == "Battery" && word_in(supply / "scope") != "Device")
      batteries_.push_back(supply);
  }
  for (const fs::path& policy : sorted_entries(sys / "devices/system/cpu/cpufreq")) {
    if (processors_.size() == most_policies) break;
    if (policy.filename().string().starts_with("policy")) processors_.push_back(policy);
  }
  for (const fs::path& device : sorted_entries(sys / "class/devfreq")) {
    if (is_gpu(device)) gpus_.push_back(device / "cur_freq");
  }
  for (const fs::path& device : sorted_entries(sys / "class/kgsl")) {
    if (number_in(device / "gpuclk")) gpus_.push_back(device / "gpuclk");
  }
}

SystemState SystemSensors::read() const {
  SystemState state;
  for (const fs::path& zone : zones_)
    state.hottest_c = std::max(state.hottest_c, temperature(number_in(zone), zone_units));
  for (const fs::path& battery : batteries_) {
    state.battery_pct = std::max(state.battery_pct, number_in(battery / "capacity").value_or(0));
    state.battery_c = std::max(state.battery_c, temperature(number_in(battery / "temp"), battery_units));
  }
  std::set<std::string> governors;
  for (const fs::path& policy : processors_) {
    governors.insert(word_in(policy / "scaling_governor"));
    state.cpu_mhz = std::max(state.cpu_mhz, number_in(policy / "scaling_cur_freq").value_or(0) / khz_in_mhz);
  }
  for (const std::string& governor : governors) {
    if (governor.empty()) continue;
    state.governor += (state.governor.empty() ? "" : ",") + governor;
  }
  for (const fs::path& gpu : gpus_)
    state.gpu_mhz = std::max(state.gpu_mhz, number_in(gpu).value_or(0) / hz_in_mhz);
  return state;
}

}  // namespace assay
