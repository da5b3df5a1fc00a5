#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/engine/ceilings/ceiling_store.h"
#include "harness/gpu/gpu.h"
#include "harness/report/console/ceilings_text.h"

#include <fmt/format.h>

#include <array>
#include <iostream>

namespace assay::cli {
namespace {

std::string yes_no(bool yes) {
  return yes ? "yes" : "no";
}

std::string dot_product(const DeviceInfo& device) {
  if (!device.has(Feature::DotProduct)) return "no";
  return device.dot_product_accelerated ? "yes, accelerated" : "yes, not accelerated";
}

std::string cooperative_matrix(const DeviceInfo& device) {
  std::string text;
  if (device.has(Feature::CooperativeMatrixKhr)) text += "KHR ";
  if (device.has(Feature::CooperativeMatrixNv)) text += "NV ";
  return text.empty() ? "no" : text;
}

/// How many texels a side, and which.
std::string textures(const DeviceInfo& device, Storage storage, std::uint32_t limit) {
  std::string texels;
  for (const TextureSupport& one : device.textures) {
    if (one.storage == storage) texels += fmt::format(" {}", texel_name(one.dtype));
  }
  return texels.empty() ? "no" : fmt::format("up to {}:{}", limit, texels);
}

void print(std::size_t index, const DeviceInfo& device) {
  const std::array<std::pair<const char*, std::string>, 15> lines{{
      {"type", device.type},
      {"driver", fmt::format("{} {}", device.driver_name, device.driver_info)},
      {"API", device.api_version},
      {"subgroup size", fmt::format("{} ({} to {})", device.subgroup_size, device.min_subgroup_size,
                                    device.max_subgroup_size)},
      {"int8 storage", yes_no(device.has(Feature::Storage8))},
      {"int8 arithmetic", yes_no(device.has(Feature::Int8))},
      {"fp16 storage", yes_no(device.has(Feature::Storage16))},
      {"fp16 arithmetic", yes_no(device.has(Feature::Float16))},
      {"int8 dot product", dot_product(device)},
      {"cooperative matrix", cooperative_matrix(device)},
      {"3D textures", textures(device, Storage::Texture3D, device.max_image_3d)},
      {"2D textures", textures(device, Storage::Texture2D, device.max_image_2d)},
      {"device memory",
       fmt::format("{:.1f} GiB", static_cast<double>(device.device_memory_bytes) / (1ULL << 30))},
      {"timestamps",
       fmt::format("{} ns a tick, {} valid bits", device.timestamp_period_ns, device.timestamp_valid_bits)},
      {"UUID", device.uuid},
  }};
  std::cout << fmt::format("[{}] {}\n", index, device.name);
  for (const auto& [name, value] : lines) std::cout << fmt::format("    {:<19} {}\n", name, value);
}

void print_ceilings(gpu::Instance& instance, std::size_t index) {
  gpu::Device device(instance, index);
  gpu::ShaderLibrary shaders({.directories = {}, .cache_directory = gpu::default_cache_directory()});
  const CeilingStore store(default_ceiling_directory());
  std::cout << std::flush;  // the device is read about while it is measured
  TimingTools tools(device, shaders);
  const Ceilings ceilings = ceilings_for(tools, shaders, store, CeilingPolicy::Measure);
  std::cout << ceilings_text(ceilings);
  if (const auto why = disturbed(ceilings, device.info())) {
    std::cout << fmt::format("    {:<20}{}: these figures are shown, and not kept for later runs\n",
                             "disturbed", *why);
  }
}

}  // namespace

int devices(const DevicesOptions& options) {
  gpu::Instance instance;
  if (instance.devices().empty()) {
    throw Error("looking for devices: the Vulkan loader knows no device of Vulkan 1.1 with a compute queue",
                ExitCode::NoDevice);
  }
  const std::vector<std::string> all{"all"};
  for (const std::size_t i :
       gpu::select_devices(instance.devices(), options.devices.empty() ? all : options.devices)) {
    print(i, instance.devices()[i]);
    if (options.ceilings) print_ceilings(instance, i);
  }
  return 0;
}

}  // namespace assay::cli
