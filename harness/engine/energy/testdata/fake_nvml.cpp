// A library that looks like NVML, with four devices: one with a counter of energy, one that tells its power
// alone, one that tells nothing, and one whose power is 0. An old one (FAKE_OLD) knows no counters.

#include <cstring>

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;

struct FakeDevice {
  const char* pci;
  const char* uuid;
  bool has_counter;
  bool has_power;
  unsigned milliwatts;
};
FakeDevice devices[] = {
    {"0000:1b:00.0", "GPU-01234567-89ab-cdef-0123-456789abcdef", true, true, 287'500},
    {"0000:2c:00.0", "GPU-11111111-1111-1111-1111-111111111111", false, true, 287'500},
    {"0000:3d:00.0", "GPU-22222222-2222-2222-2222-222222222222", false, false, 0},
    {"0000:4e:00.0", "GPU-33333333-3333-3333-3333-333333333333", false, true, 0},
};

int users = 0;
[[maybe_unused]] unsigned long long millijoules = 1'000'000;

template <class Is>
int find(void** found, Is is) {
  for (FakeDevice& device : devices) {
    if (!is(device)) continue;
    *found = &device;
    return success;
  }
  return not_found;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, google-runtime-int): the names and types of nvml.h
extern "C" {

int nvmlInit_v2() {
  ++users;
  return success;
}

int nvmlShutdown() {
  --users;
  return success;
}

const char* nvmlErrorString(int result) {
  return result == not_supported ? "Not Supported" : "Not Found";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
  return find(device, [&](const FakeDevice& one) { return std::strcmp(one.pci, pci) == 0; });
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return find(device, [&](const FakeDevice& one) { return std::strcmp(one.uuid, uuid) == 0; });
}

#ifndef FAKE_OLD
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  if (!static_cast<FakeDevice*>(device)->has_counter) return not_supported;
  *energy = millijoules += 500;
  return success;
}
#endif

int nvmlDeviceGetPowerUsage(void* device, unsigned* power) {
  const auto* one = static_cast<FakeDevice*>(device);
  if (!one->has_power) return not_supported;
  *power = one->milliwatts;
  return success;
}

/// How many have called nvmlInit_v2, and not yet nvmlShutdown.
int fake_users() {
  return users;
}
}
// NOLINTEND(readability-identifier-naming, google-runtime-int)
