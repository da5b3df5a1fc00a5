#include "harness/engine/run/run_info.h"

#include "harness/base/clock.h"
#include "harness/base/host_info.h"
#include "harness/base/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>

namespace assay {
namespace {

/// Environment variables that change which devices and layers the Vulkan loader finds, or how a driver works.
constexpr std::array loader_variables = {
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "VK_LOADER_LAYERS_ENABLE",
    "VK_LOADER_LAYERS_DISABLE",
    "VK_INSTANCE_LAYERS",
    "VK_LAYER_PATH",
    "MESA_VK_DEVICE_SELECT",
    "LP_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
};

}  // namespace

std::string new_run_id() {
  std::random_device random;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:06x}", fmt::gmtime(now), random() & 0xffffffU);
}

RunInfo make_run_info(const RunSettings& settings, const DeviceInfo& device) {
  const auto now = std::chrono::system_clock::now();
  RunInfo info;
  info.run_id = settings.run_id.empty() ? new_run_id() : settings.run_id;
  info.started_utc = utc_text(now);
  info.device = device;
  info.version = settings.version;
  info.compiler = settings.compiler;
  info.build_type = settings.build_type;
  const HostInfo host = host_info();
  info.os = host.os;
  info.host = host.name;
  info.cpu = host.cpu;
  info.cores = host.cores;
  info.command = settings.command;
  for (const char* name : loader_variables) {
    if (const char* value = std::getenv(name)) info.environment[name] = value;
  }
  info.seed = settings.seed;
  info.validation = settings.validation;
  info.robust_access = settings.robust_access;
  info.repro_options = settings.repro_options;
  return info;
}

std::string device_slug(std::span<const DeviceInfo> devices, std::size_t index) {
  const auto by_name = [](const DeviceInfo& device) { return slug_of(device.name); };
  const auto by_uuid = [](const DeviceInfo& device) {
    return slug_of(device.name) + "-" + device.uuid.substr(0, 8);
  };
  // Whether another device has, or might get, this name.
  const auto is_taken = [&](const std::string& text) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (i != index && (by_name(devices[i]) == text || by_uuid(devices[i]) == text)) return true;
    }
    return false;
  };
  for (const std::string& text : {by_name(devices[index]), by_uuid(devices[index])}) {
    if (!is_taken(text)) return text;
  }
  return fmt::format("{}-{}", by_uuid(devices[index]), index);
}

}  // namespace assay
