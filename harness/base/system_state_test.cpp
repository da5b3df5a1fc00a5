#include "harness/base/system_state.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay {

namespace {

namespace fs = std::filesystem;

/// A folder that looks like /sys.
class FakeSys {
 public:
  FakeSys() {
    std::string name = (fs::temp_directory_path() / "assay-sys-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FakeSys() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  FakeSys(const FakeSys&) = delete;
  FakeSys& operator=(const FakeSys&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text << '\n';
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

TEST(SystemSensors, ReadAPhone) {
  const FakeSys sys;
  sys.write("class/thermal/thermal_zone0/temp", "38500");
  sys.write("class/thermal/thermal_zone1/temp", "47250");
  sys.write("class/thermal/cooling_device0/temp", "99000");
  sys.write("class/power_supply/usb/type", "USB");
  sys.write("class/power_supply/usb/capacity", "100");
  sys.write("class/power_supply/battery/type", "Battery");
  sys.write("class/power_supply/battery/capacity", "83");
  sys.write("class/power_supply/battery/temp", "312");
  sys.write("devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil");
  sys.write("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1804800");
  sys.write("devices/system/cpu/cpufreq/policy4/scaling_governor", "walt");
  sys.write("devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "2841600");
  sys.write("class/devfreq/28000000.mali/cur_freq", "848000000");
  sys.write("class/devfreq/memory_bus/cur_freq", "3196000000");
  const SystemState expected{.battery_pct = 83,
                             .battery_c = 31.2,
                             .hottest_c = 47.25,
                             .governor = "schedutil,walt",
                             .cpu_mhz = 2841.6,
                             .gpu_mhz = 848};
  EXPECT_EQ(SystemSensors(sys.folder()).read(), expected);
}

TEST(SystemSensors, ReadTheClockOfAnAdreno) {
  const FakeSys sys;
  sys.write("class/kgsl/kgsl-3d0/gpuclk", "680000000");
  EXPECT_EQ(SystemSensors(sys.folder()).read().gpu_mhz, 680);
}

TEST(SystemSensors, ReadEachTimeAnew) {
  const FakeSys sys;
  sys.write("class/thermal/thermal_zone0/temp", "30000");
  const SystemSensors sensors(sys.folder());
  EXPECT_EQ(sensors.read().hottest_c, 30);
  sys.write("class/thermal/thermal_zone0/temp", "61000");
  EXPECT_EQ(sensors.read().hottest_c, 61);
}

TEST(SystemSensors, LeaveUnknownWhatTheSystemDoesNotSay) {
  const FakeSys sys;
  EXPECT_EQ(SystemSensors(sys.folder() / "absent").read(), SystemState());
  sys.write("class/thermal/thermal_zone0/temp", "no number");
  sys.write("class/thermal/thermal_zone1/temp", "-273000");
  sys.write("class/thermal/thermal_zone2/temp", "255000");
  sys.write("class/power_supply/battery/type", "Battery");
  sys.write("devices/system/cpu/cpufreq/policy0/related_cpus", "0 1");
  sys.write("class/devfreq/gpu/available_frequencies", "1 2");
  EXPECT_EQ(SystemSensors(sys.folder()).read(), SystemState());
}

}  // namespace

}  // namespace assay
