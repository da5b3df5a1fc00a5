#include "harness/engine/energy/energy_sources.h"

#include "harness/base/error.h"
#include "harness/engine/energy/nvml_meter.h"
#include "harness/engine/energy/sys_meters.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr const char* no_library = "libassay-no-such-library.so";

DeviceInfo device_of_type(const std::string& type, const std::string& pci_address = "") {
  DeviceInfo device;
  device.type = type;
  device.pci_address = pci_address;
  return device;
}

DeviceInfo nvidia_device(const std::string& pci_address) {
  DeviceInfo device = device_of_type("discrete", pci_address);
  device.vendor_id = 0x10de;
  return device;
}

TEST(NvmlMeter, ReadsTheCounterOfTheDeviceAtThePciAddress) {
  const FoundMeter found = nvml_meter(nvidia_device("0000:1b:00.0"), FAKE_NVML);
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Counter);
  EXPECT_EQ(found.meter->source(), "NVML counter of energy (the GPU and its memory)");
  const double first = found.meter->read();
  EXPECT_DOUBLE_EQ(found.meter->read() - first, 0.5);
}

TEST(NvmlMeter, FindsADeviceWithoutAPciAddressByItsUuid) {
  DeviceInfo device = nvidia_device("");
  device.uuid = "0123456789abcdef0123456789abcdef";
  const FoundMeter found = nvml_meter(device, FAKE_NVML);
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Counter);
}

TEST(NvmlMeter, ReadsThePowerOfADeviceWithoutACounter) {
  const FoundMeter found = nvml_meter(nvidia_device("0000:2c:00.0"), FAKE_NVML);
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Power);
  EXPECT_EQ(found.meter->source(), "NVML power (the GPU and its memory)");
  EXPECT_DOUBLE_EQ(found.meter->read(), 287.5);
  EXPECT_GT(found.meter->averaged_s(), 0);
}

TEST(NvmlMeter, ReadsThePowerWhereTheLibraryKnowsNoCounter) {
  const FoundMeter found = nvml_meter(nvidia_device("0000:1b:00.0"), FAKE_OLD_NVML);
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Power);
  EXPECT_DOUBLE_EQ(found.meter->read(), 287.5);
  EXPECT_EQ(nvml_meter(nvidia_device("0000:3d:00.0"), FAKE_OLD_NVML).why_not,
            "the library has no nvmlDeviceGetTotalEnergyConsumption, nvmlDeviceGetPowerUsage failed: Not "
            "Supported");
}

TEST(NvmlMeter, RefusesAPowerOfZero) {
  EXPECT_EQ(nvml_meter(nvidia_device("0000:4e:00.0"), FAKE_NVML).why_not,
            "nvmlDeviceGetTotalEnergyConsumption failed: Not Supported, nvmlDeviceGetPowerUsage reads 0 W");
}

TEST(NvmlMeter, TellsWhichCallFailed) {
  EXPECT_EQ(nvml_meter(nvidia_device("0000:99:00.0"), FAKE_NVML).why_not,
            "nvmlDeviceGetHandleByPciBusId_v2 for 0000:99:00.0 failed: Not Found");
  EXPECT_EQ(nvml_meter(nvidia_device("0000:3d:00.0"), FAKE_NVML).why_not,
            "nvmlDeviceGetTotalEnergyConsumption failed: Not Supported, nvmlDeviceGetPowerUsage failed: Not "
            "Supported");
  EXPECT_THAT(nvml_meter(nvidia_device("0000:1b:00.0"), no_library).why_not, HasSubstr(no_library));
}

TEST(NvmlMeter, ShutsTheLibraryDownAtItsEnd) {
  void* const library = ::dlopen(FAKE_NVML, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto users = reinterpret_cast<int (*)()>(::dlsym(library, "fake_users"));
  const int before = users();
  {
    const FoundMeter found = nvml_meter(nvidia_device("0000:1b:00.0"), FAKE_NVML);
    EXPECT_EQ(users(), before + 1);
    nvml_meter(nvidia_device("0000:99:00.0"), FAKE_NVML);
    EXPECT_EQ(users(), before + 1);
  }
  EXPECT_EQ(users(), before);
  ::dlclose(library);
}

/// A fake sensor of a discrete device.
struct HwmonSensor {
  explicit HwmonSensor(const std::string& name) { has("name", name); }

  void has(const std::string& file, const std::string& text) const {
    sys.write("bus/pci/devices/0000:03:00.0/hwmon/hwmon4/" + file, text + "\n");
  }
  FoundMeter meter() const { return hwmon_meter(device_of_type("discrete", "0000:03:00.0"), sys.path()); }

  test::TemporaryFolder sys;
};

TEST(HwmonMeter, PrefersTheCounterOfEnergyOfTheDevice) {
  const HwmonSensor sensor("xe");
  sensor.has("energy1_input", "2500000");
  sensor.has("power1_average", "31000000");
  const FoundMeter found = sensor.meter();
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Counter);
  EXPECT_EQ(found.meter->source(), "hwmon xe energy1_input (what the driver's sensor covers)");
  EXPECT_DOUBLE_EQ(found.meter->read(), 2.5);
}

TEST(HwmonMeter, ReadsPowerWhereThereIsNoCounter) {
  const HwmonSensor sensor("amdgpu");
  sensor.has("power1_average", "31500000");
  const FoundMeter found = sensor.meter();
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->kind(), EnergyMeter::Kind::Power);
  EXPECT_DOUBLE_EQ(found.meter->read(), 31.5);
}

TEST(HwmonMeter, RefusesASensorThatReadsZeroWatts) {
  const HwmonSensor sensor("amdgpu");
  sensor.has("power1_average", "0");
  EXPECT_EQ(sensor.meter().why_not,
            "hwmon amdgpu power1_average (what the driver's sensor covers) reads 0 W");
  sensor.has("power1_input", "31500000");
  const FoundMeter found = sensor.meter();
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_DOUBLE_EQ(found.meter->read(), 31.5);
}

TEST(HwmonMeter, IsNotTheSensorOfAnotherDevice) {
  const test::TemporaryFolder sys;
  sys.write("bus/pci/devices/0000:03:00.0/hwmon/hwmon4/power1_average", "31500000\n");
  EXPECT_THAT(hwmon_meter(device_of_type("discrete", "0000:04:00.0"), sys.path()).why_not,
              HasSubstr("0000:04:00.0/hwmon has no energy1_input, power1_average, power1_input"));
  EXPECT_THAT(hwmon_meter(device_of_type("discrete"), sys.path()).why_not, HasSubstr("no"));
}

TEST(HwmonMeter, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "n/a", "12W", "-5", "99999999999999999999999"}) {
    const test::TemporaryFolder sys;
    sys.write("bus/pci/devices/0000:03:00.0/hwmon/hwmon4/power1_input", text);
    const FoundMeter found = hwmon_meter(device_of_type("discrete", "0000:03:00.0"), sys.path());
    EXPECT_FALSE(found.meter) << text;
    EXPECT_THAT(found.why_not, HasSubstr("power1_input has ")) << text;
  }
}

/// A fake zone of RAPL.
struct Zone {
  const test::TemporaryFolder& sys;
  std::string folder;

  void is(const std::string& name, const std::string& energy_uj) const {
    sys.write("class/powercap/" + folder + "/name", name + "\n");
    sys.write("class/powercap/" + folder + "/max_energy_range_uj", "10000000\n");
    set(energy_uj);
  }
  void set(const std::string& energy_uj) const {
    sys.write("class/powercap/" + folder + "/energy_uj", energy_uj + "\n");
  }
};

TEST(RaplMeter, AddsUpThePackagesAndNothingElse) {
  const test::TemporaryFolder sys;
  const Zone zero{sys, "intel-rapl:0"};
  const Zone one{sys, "intel-rapl:1"};
  zero.is("package-0", "1000000");
  one.is("package-1", "2000000");
  Zone{sys, "intel-rapl:0:0"}.is("core", "700000");
  Zone{sys, "intel-rapl:2"}.is("psys", "9000000");
  Zone{sys, "intel-rapl-mmio:0"}.is("package-0", "1000000");
  const FoundMeter found = rapl_meter(sys.path());
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->source(), "RAPL package-0 + package-1 (the processor, with all that runs on it)");
  EXPECT_DOUBLE_EQ(found.meter->read(), 3);
}

TEST(RaplMeter, CountsOnWhenACounterBeginsAgain) {
  const test::TemporaryFolder sys;
  const Zone zone{sys, "intel-rapl:0"};
  zone.is("package-0", "9500000");
  const FoundMeter found = rapl_meter(sys.path());
  ASSERT_TRUE(found.meter) << found.why_not;
  const double first = found.meter->read();
  zone.set("500000");  // it began again after 10000000
  EXPECT_NEAR(found.meter->read() - first, 1, 1e-9);
  zone.set("400000");
  EXPECT_NEAR(found.meter->read() - first, 10.9, 1e-9);
}

TEST(RaplMeter, RefusesACounterThatFallsFromBeyondItsRange) {
  const test::TemporaryFolder sys;
  const Zone zone{sys, "intel-rapl:0"};
  zone.is("package-0", "10000001");
  const FoundMeter found = rapl_meter(sys.path());
  ASSERT_TRUE(found.meter) << found.why_not;
  zone.set("5");
  EXPECT_THAT(test::error_of([&] { found.meter->read(); }),
              HasSubstr("fell from 10000001, which is more than the 10000000 of max_energy_range_uj"));
}

TEST(RaplMeter, SaysWhichFileCannotBeRead) {
  const test::TemporaryFolder sys;
  EXPECT_THAT(rapl_meter(sys.path()).why_not, HasSubstr("class/powercap has no zone of a package"));
  sys.write("class/powercap/intel-rapl:0/name", "package-0\n");
  EXPECT_THAT(rapl_meter(sys.path()).why_not, HasSubstr("intel-rapl:0/energy_uj: No such file"));
}

TEST(BatteryMeter, TellsThePowerOfTheMachineWhileItIsDischarged) {
  const test::TemporaryFolder sys;
  sys.write("class/power_supply/AC/type", "Mains\n");
  sys.write("class/power_supply/hid-mouse/type", "Battery\n");
  sys.write("class/power_supply/hid-mouse/scope", "Device\n");
  sys.write("class/power_supply/BAT0/type", "Battery\n");
  sys.write("class/power_supply/BAT0/status", "Discharging\n");
  sys.write("class/power_supply/BAT0/current_now", "-1500000\n");
  sys.write("class/power_supply/BAT0/voltage_now", "4000000\n");
  const FoundMeter found = battery_meter(sys.path());
  ASSERT_TRUE(found.meter) << found.why_not;
  EXPECT_EQ(found.meter->source(), "battery BAT0 (the whole machine)");
  EXPECT_DOUBLE_EQ(found.meter->read(), 6);
  sys.write("class/power_supply/BAT0/power_now", "7250000\n");
  EXPECT_DOUBLE_EQ(found.meter->read(), 7.25);
  sys.write("class/power_supply/BAT0/status", "Charging\n");
  EXPECT_EQ(test::error_of([&] { found.meter->read(); }),
            "BAT0 is 'Charging', so that it does not tell what the machine takes");
}

TEST(BatteryMeter, RefusesABatteryThatGivesZeroWatts) {
  const test::TemporaryFolder sys;
  sys.write("class/power_supply/BAT0/type", "Battery\n");
  sys.write("class/power_supply/BAT0/status", "Discharging\n");
  sys.write("class/power_supply/BAT0/power_now", "0\n");
  EXPECT_EQ(battery_meter(sys.path()).why_not, "battery BAT0 (the whole machine) reads 0 W");
}

TEST(FindEnergyMeter, PrefersWhatCoversTheDeviceMostClosely) {
  const test::TemporaryFolder sys;
  const EnergyPlaces places{.sys = sys.path(), .nvml = FAKE_NVML};
  sys.write("class/power_supply/BAT0/type", "Battery\n");
  sys.write("class/power_supply/BAT0/status", "Discharging\n");
  sys.write("class/power_supply/BAT0/power_now", "7250000\n");
  const DeviceInfo integrated = device_of_type("integrated", "0000:00:02.0");
  EXPECT_THAT(meter_line(find_energy_meter(integrated, places)), HasSubstr("battery"));
  Zone{sys, "intel-rapl:0"}.is("package-0", "1000000");
  EXPECT_THAT(meter_line(find_energy_meter(integrated, places)), HasSubstr("RAPL"));
  sys.write("bus/pci/devices/0000:00:02.0/hwmon/hwmon4/energy1_input", "1\n");
  EXPECT_THAT(meter_line(find_energy_meter(integrated, places)), HasSubstr("hwmon"));
  EXPECT_THAT(meter_line(find_energy_meter(nvidia_device("0000:1b:00.0"), places)), HasSubstr("NVML"));
  EXPECT_THAT(meter_line(find_energy_meter(device_of_type("cpu"), places)), HasSubstr("RAPL"));
}

TEST(FindEnergyMeter, DoesNotTakeTheProcessorForADiscreteDevice) {
  const test::TemporaryFolder sys;
  Zone{sys, "intel-rapl:0"}.is("package-0", "1000000");
  const FoundMeter found =
      find_energy_meter(device_of_type("discrete", "0000:03:00.0"), {.sys = sys.path(), .nvml = no_library});
  EXPECT_FALSE(found.meter);
}

TEST(FindEnergyMeter, SaysWhatWasTriedAndWhyItFailed) {
  const test::TemporaryFolder sys;
  const FoundMeter found =
      find_energy_meter(nvidia_device("0000:1b:00.0"), {.sys = sys.path(), .nvml = no_library});
  ASSERT_FALSE(found.meter);
  const std::string line = sys.without_path(meter_line(found));
  EXPECT_THAT(line, HasSubstr("none: NVML: libassay-no-such-library.so"));
  EXPECT_THAT(line, HasSubstr("; hwmon: "));
  EXPECT_THAT(line, HasSubstr("; battery: "));
}

}  // namespace
}  // namespace assay
