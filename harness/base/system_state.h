#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// What decides how fast a machine runs, as far as its system says so: a phone throttles when it is hot, or
/// when its battery is low. 0 or empty: unknown.
struct SystemState {
  double battery_pct = 0;
  double battery_c = 0;  ///< degrees Celsius, as are all temperatures here
  double hottest_c = 0;  ///< of the thermal zones
  std::string governor;  ///< of the processors' clocks, such as "schedutil"; several are separated by commas
  double cpu_mhz = 0;    ///< of the fastest of the processors of the first eight policies of cpufreq
  double gpu_mhz = 0;

  bool operator==(const SystemState&) const = default;
};

/// Reads the state of this machine from Linux's /sys: thermal zones, batteries, cpufreq, and the GPU's clock
/// from devfreq or Adreno's kgsl. Android's kernels have the same files, some of which adb's user may not
/// read. Files are looked for once, and each read() opens only those that can be read.
class SystemSensors {
 public:
  /// `sys`: the folder that is read instead of /sys.
  explicit SystemSensors(const std::filesystem::path& sys = "/sys");

  /// Opens a few dozen small files. Never throws: what cannot be read is unknown.
  SystemState read() const;

 private:
  std::vector<std::filesystem::path> zones_;       ///< files with thousandths of a degree
  std::vector<std::filesystem::path> batteries_;   ///< folders
  std::vector<std::filesystem::path> processors_;  ///< folders of cpufreq's policies
  std::vector<std::filesystem::path> gpus_;        ///< files with Hz
};

}  // namespace assay
