#include "harness/gpu/commands/submission.h"
#include "harness/gpu/kernels/calibration.h"
#include "harness/gpu/kernels/clock_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::gpu {
namespace {

constexpr double long_ns = 30e6;
constexpr double timeout_s = 30;

/// A CPU time domain that counts ns, if the device can read it together with its own.
std::optional<VkTimeDomainEXT> cpu_domain(const Device::State& device) {
  if (!device.physical.facts.has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) {
    return std::nullopt;
  }
  const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
      vkGetInstanceProcAddr(device.instance.handle, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
  if (list == nullptr || device.table.vk.vkGetCalibratedTimestampsEXT == nullptr) {
    return std::nullopt;
  }
  std::uint32_t count = 0;
  check(list(device.physical.facts.handle, &count, nullptr), "listing the clocks that a device reads");
  std::vector<VkTimeDomainEXT> domains(count);
  check(list(device.physical.facts.handle, &count, domains.data()), "listing the clocks that a device reads");
  const auto has = [&](VkTimeDomainEXT domain) {
    return std::find(domains.begin(), domains.end(), domain) != domains.end();
  };
  if (!has(VK_TIME_DOMAIN_DEVICE_EXT)) {
    return std::nullopt;
  }
  for (const VkTimeDomainEXT domain :
       {VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT, VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT}) {
    if (has(domain)) {
      return domain;
    }
  }
  return std::nullopt;
}

class DeviceProbe final : public TimerProbe {
 public:
  DeviceProbe(Device& device, ShaderLibrary& shaders)
      : device_(device.state()), kernel_(device, shaders), cpu_domain_(cpu_domain(device_)) {}

  std::uint32_t valid_bits() const override {
    return Stamps::available(device_) ? device_.info().timestamp_valid_bits : 0;
  }
  double period_ns() const override { return device_.info().timestamp_period_ns; }
  std::uint32_t long_rounds() override { return kernel_.rounds_for(long_ns, timeout_s); }
  StampedRun run(std::span<const std::uint32_t> rounds) override { return kernel_.run(rounds, timeout_s); }

  std::optional<ClockReading> clocks() override {
    if (!cpu_domain_) {
      return std::nullopt;
    }
    std::array<VkCalibratedTimestampInfoEXT, 2> asked{};
    for (VkCalibratedTimestampInfoEXT& one : asked) {
      one.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
    }
    asked[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    asked[1].timeDomain = *cpu_domain_;
    std::array<std::uint64_t, 2> ticks{};
    std::uint64_t deviation = 0;
    device_.check_alive(device_.table.vk.vkGetCalibratedTimestampsEXT(device_.table.device, 2, asked.data(),
                                                                      ticks.data(), &deviation),
                        fmt::format("reading the clocks of '{}' and of the CPU", device_.info().name));
    return ClockReading{.ticks = ticks[0], .cpu_ns = static_cast<double>(ticks[1])};
  }

 private:
  Device::State& device_;
  ClockProbeKernel kernel_;
  std::optional<VkTimeDomainEXT> cpu_domain_;
};

}  // namespace

TimerCalibration calibrate_timer(Device& device, ShaderLibrary& shaders) {
  DeviceProbe probe(device, shaders);
  return calibrate(probe);
}

}  // namespace assay::gpu
