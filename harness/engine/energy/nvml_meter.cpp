#include "harness/engine/energy/nvml_meter.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <optional>
#include <utility>

namespace assay {
namespace {

// The part of nvml.h that is used here. Its ABI is stable: functions that change get another name.
using NvmlResult = int;
using NvmlDevice = void*;
constexpr NvmlResult nvml_success = 0;
constexpr const char* energy_name = "nvmlDeviceGetTotalEnergyConsumption";
constexpr const char* power_name = "nvmlDeviceGetPowerUsage";
constexpr double millijoules_in_joule = 1e3;
constexpr double milliwatts_in_watt = 1e3;
/// From Ampere on (but for the A100) NVML's power is the mean of the last second. Which device this one is
/// does not matter: to the others the longer wait does no harm.
constexpr double nvml_averaged_s = 1;

/// NVML, loaded and initialized. Throws Error if that is not possible.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw Error(dlerror_text(library));
    try {
      load();
      check(init_(), "nvmlInit_v2");
    } catch (...) {
      ::dlclose(library_);
      throw;
    }
  }
  ~Nvml() {
    shutdown_();
    ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  NvmlDevice device(const DeviceInfo& info) const {
    NvmlDevice found = nullptr;
    if (!info.pci_address.empty()) {
      check(by_pci_(info.pci_address.c_str(), &found),
            "nvmlDeviceGetHandleByPciBusId_v2 for " + info.pci_address);
    } else {
      const std::string uuid = nvml_uuid(info.uuid);
      check(by_uuid_(uuid.c_str(), &found), "nvmlDeviceGetHandleByUUID for " + uuid);
    }
    return found;
  }

  double joules(NvmlDevice device) const {
    if (energy_ == nullptr) throw Error(missing(energy_name));
    unsigned long long millijoules = 0;  // NOLINT(google-runtime-int): the type in nvml.h
    check(energy_(device, &millijoules), energy_name);
    return static_cast<double>(millijoules) / millijoules_in_joule;
  }

  double watts(NvmlDevice device) const {
    unsigned milliwatts = 0;
    check(power_(device, &milliwatts), power_name);
    return milliwatts / milliwatts_in_watt;
  }

 private:
  static std::string dlerror_text(const std::string& library) {
    const char* text = ::dlerror();  // NOLINT(concurrency-mt-unsafe): it is per thread in glibc
    return text != nullptr ? printable_line(text) : "loading " + library + " failed";
  }

  /// "GPU-01234567-89ab-cdef-0123-456789abcdef" from 32 hex digits.
  static std::string nvml_uuid(const std::string& hex) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < hex.size(); ++i) {
      if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
      text += hex[i];
    }
    return text;
  }

  static std::string missing(const char* name) { return fmt::format("the library has no {}", name); }

  template <class Function>
  void find_if_there(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  template <class Function>
  void find(Function*& function, const char* name) {
    find_if_there(function, name);
    if (function == nullptr) throw Error(missing(name));
  }

  void load() {
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(error_, "nvmlErrorString");
    find(by_pci_, "nvmlDeviceGetHandleByPciBusId_v2");
    find(by_uuid_, "nvmlDeviceGetHandleByUUID");
    find_if_there(energy_, energy_name);  // older libraries know power alone
    find(power_, power_name);
  }

  void check(NvmlResult result, const std::string& call) const {
    if (result == nvml_success) return;
    const char* text = error_(result);
    throw Error(fmt::format("{} failed: {}", call, text != nullptr ? printable_line(text) : "unknown error"));
  }

  void* library_;
  NvmlResult (*init_)() = nullptr;
  NvmlResult (*shutdown_)() = nullptr;
  const char* (*error_)(NvmlResult) = nullptr;
  NvmlResult (*by_pci_)(const char*, NvmlDevice*) = nullptr;
  NvmlResult (*by_uuid_)(const char*, NvmlDevice*) = nullptr;
  NvmlResult (*energy_)(NvmlDevice,
                        unsigned long long*) = nullptr;  // NOLINT(google-runtime-int): may stay null
  NvmlResult (*power_)(NvmlDevice, unsigned*) = nullptr;
};

class NvmlMeter : public EnergyMeter {
 public:
  NvmlMeter(std::unique_ptr<Nvml> nvml, NvmlDevice device, Kind kind)
      : nvml_(std::move(nvml)), device_(device), kind_(kind) {}

  double read() override { return kind_ == Kind::Counter ? nvml_->joules(device_) : nvml_->watts(device_); }
  Kind kind() const override { return kind_; }
  std::string source() const override {
    return kind_ == Kind::Counter ? "NVML counter of energy (the GPU and its memory)"
                                  : "NVML power (the GPU and its memory)";
  }
  double averaged_s() const override { return kind_ == Kind::Power ? nvml_averaged_s : 0; }

 private:
  std::unique_ptr<Nvml> nvml_;
  NvmlDevice device_;
  Kind kind_;
};

/// Why a reading fails; nothing: it does not.
template <class Read>
std::optional<std::string> failure_of(const Read& read) try {
  read();
  return std::nullopt;
} catch (const Error& error) {
  return error.what();
}

}  // namespace

FoundMeter nvml_meter(const DeviceInfo& device, const std::string& library) try {
  auto nvml = std::make_unique<Nvml>(library);
  const NvmlDevice handle = nvml->device(device);
  const auto no_counter = failure_of([&] { nvml->joules(handle); });
  if (!no_counter)
    return {std::make_unique<NvmlMeter>(std::move(nvml), handle, EnergyMeter::Kind::Counter), ""};
  const auto no_power = failure_of([&] {
    if (nvml->watts(handle) == 0) throw Error(fmt::format("{} reads 0 W", power_name));
  });
  if (!no_power) return {std::make_unique<NvmlMeter>(std::move(nvml), handle, EnergyMeter::Kind::Power), ""};
  return {nullptr, *no_counter + ", " + *no_power};
} catch (const Error& error) {
  return {nullptr, error.what()};
}

}  // namespace assay
