#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/device_profiles.h"
#include "harness/commands/read/report.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/device/driver_name.h"
#include "harness/engine/ceilings/ceilings.h"
#include "harness/engine/ceilings/matrix_check.h"
#include "harness/engine/run/run_info.h"
#include "harness/gpu/gpu.h"
#include "harness/report/console/labelled_text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <iostream>
#include <span>
#include <string_view>

namespace assay::cli {
namespace {

struct DevicesOptions {
  std::vector<std::string> devices;     ///< as RunOptions::devices; empty: all
  bool ceilings = false;                ///< measure the devices' ceilings and print them
  std::filesystem::path ceiling_store;  ///< as RunOptions::ceiling_store
  bool json = false;                    ///< print JSON, for scripts
  std::string as_if;                    ///< describe this profile instead, as RunOptions::as_if
  std::filesystem::path profile;        ///< file for the profile of the one device; "-": stdout
};

void declare_devices(CLI::App& app, DevicesOptions& options) {
  app.add_option("--device", options.devices,
                 "Device to describe: index, UUID or part of the name; repeatable (default: all)")
      ->allow_extra_args(false);
  app.add_flag(
      "--ceilings", options.ceilings,
      "Measure the ceilings of each device (bandwidth by footprint, arithmetic, dispatch spacing) and "
      "store them");
  add_ceiling_store(app, options.ceiling_store);
  app.add_flag("--json", options.json,
               "Print index, name, report folder name (slug), UUID and driver as JSON, one device per line")
      ->excludes("--ceilings");
  app.add_option("--profile", options.profile,
                 "Write the limits and features of the device as a file for --as-if, in the form of "
                 "`vulkaninfo --json` ('-': stdout)")
      ->excludes("--ceilings")
      ->excludes("--json");
  add_as_if(app, options.as_if, "Describe a profile instead of the devices here: ")
      ->excludes("--device")
      ->excludes("--ceilings")
      ->excludes("--json");
}

std::string yes_no(bool yes) {
  return yes ? "yes" : "no";
}

std::string dot_product(const DeviceInfo& device) {
  if (!device.has(Feature::DotProduct)) return "no";
  return device.dot_product_accelerated ? "yes, accelerated" : "yes, not accelerated";
}

std::string cooperative_matrix(const DeviceInfo& device) {
  std::string text;
  for (const MatrixExtension extension : {MatrixExtension::Khr, MatrixExtension::Nv}) {
    if (!device.has(feature_of(extension))) continue;
    std::vector<std::string> shapes;
    for (const CooperativeShape& shape : device.cooperative_shapes) {
      if (shape.extension == extension) shapes.push_back(to_string(shape));
    }
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name_of(extension),
                        shapes.empty() ? "no shape of one type" : fmt::format("{}", fmt::join(shapes, ", ")));
  }
  return text.empty() ? "no" : text;
}

/// Returns the largest extent in texels and the supported texel formats.
std::string textures(const DeviceInfo& device, Storage storage, std::uint32_t limit) {
  std::string texels;
  for (const TextureSupport& one : device.textures) {
    if (one.storage == storage) texels += fmt::format(" {}", texel_name(one.dtype));
  }
  return texels.empty() ? "no" : fmt::format("up to {}:{}", limit, texels);
}

/// Whether a profile has what a line says.
bool is_of_profiles(std::string_view line, const DeviceInfo& profile) {
  if (line == "device memory") return profile.device_memory_bytes != 0;
  return line != "driver" && line != "timestamps" && line != "UUID";
}

void print(const std::string& title, const DeviceInfo& device) {
  const std::array<std::pair<const char*, std::string>, 16> lines{{
      {"type", device.type},
      {"driver", driver_of(device)},
      {"API", device.api_version},
      {"subgroup size", fmt::format("{} ({} to {})", device.subgroup_size, device.min_subgroup_size,
                                    device.max_subgroup_size)},
      {"shader cores", device.shader_cores == 0
                           ? fmt::format("not reported; choices assume {}", assumed_shader_cores)
                           : std::to_string(device.shader_cores)},
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
       fmt::format("{} ns per tick, {} valid bits", device.timestamp_period_ns, device.timestamp_valid_bits)},
      {"UUID", device.uuid},
  }};
  std::cout << title << '\n';
  for (const auto& [name, value] : lines) {
    if (device.as_if.empty() || is_of_profiles(name, device))
      std::cout << fmt::format("    {:<19} {}\n", name, value);
  }
}

/// Prints an array with one object per line, so that a shell script can read it too.
void print_json(std::span<const DeviceInfo> all, std::span<const std::size_t> chosen) {
  const char* separator = "[\n";
  for (const std::size_t index : chosen) {
    const DeviceInfo& device = all[index];
    const nlohmann::ordered_json object{{"index", index},
                                        {"name", printable(device.name)},
                                        {"slug", device_slug(all, index)},
                                        {"uuid", device.uuid},
                                        {"driver", printable(driver_of(device))}};
    std::cout << separator << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    separator = ",\n";
  }
  std::cout << "\n]\n";
}

void print_ceilings(gpu::Instance& instance, std::size_t index, const CeilingStore& store) {
  gpu::Device device(instance, index);
  check_matrices(device);
  for (const std::string& wrong : device.info().wrong_matrices) {
    std::cout << fmt::format("    {:<20}{}\n", "not used", printable(wrong));
  }
  gpu::ShaderLibrary shaders({.directories = {}, .cache_directory = gpu::default_cache_directory()});
  std::cout << std::flush;  // show the device's description while it is measured
  TimingTools tools(device, shaders);
  const Ceilings ceilings = ceilings_for(tools, shaders, store, CeilingPolicy::Measure);
  std::cout << ceilings_text(ceilings);
  if (const auto why = disturbed(ceilings, device.info())) {
    const char* kept = store.takes(ceilings, device.info()) ? "" : " but not kept for later runs";
    std::cout << fmt::format("    {:<20}{}: these figures are shown{}\n", "disturbed", *why, kept);
  }
}

/// Prints a device, or writes its profile.
void describe(const DevicesOptions& options, const std::string& title, const DeviceInfo& device) {
  if (options.profile.empty()) return print(title, device);
  app::write_text(options.profile, std::cout, [&] { return profile_json(device); });
}

ExitCode devices(const DevicesOptions& options, const Context&) {
  if (!options.as_if.empty()) {
    const DeviceProfile profile = app::find_profile(options.as_if);
    describe(options, printable_line(profile.name), profile.device);
    return ExitCode::Fine;
  }
  gpu::Instance instance;
  if (instance.devices().empty()) {
    throw Error("looking for devices: the Vulkan loader finds no Vulkan 1.1 device with a compute queue",
                ExitCode::NoDevice);
  }
  const std::vector<std::string> all{"all"};
  const std::vector<std::size_t> chosen =
      gpu::select_devices(instance.devices(), options.devices.empty() ? all : options.devices);
  if (options.json) {
    print_json(instance.devices(), chosen);
    return ExitCode::Fine;
  }
  if (!options.profile.empty() && chosen.size() != 1) {
    throw Error(fmt::format("writing the profile of a device: {} devices are chosen; name one by --device",
                            chosen.size()));
  }
  const CeilingStore store = app::ceiling_store(options.ceiling_store);
  for (const std::size_t i : chosen) {
    const DeviceInfo& device = instance.devices()[i];
    describe(options, fmt::format("[{}] {}", i, device.name), device);
    if (options.ceilings) print_ceilings(instance, i, store);
  }
  return ExitCode::Fine;
}

}  // namespace

void add_devices(Commands& commands) {
  commands.add<DevicesOptions>("devices", "Print the Vulkan devices and what they can do", declare_devices,
                               devices);
}

}  // namespace assay::cli
