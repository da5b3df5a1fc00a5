#include "harness/commands/tuning_files.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* no_tuning = "none";
constexpr const char* shipped_tuning = "auto";

fs::path shipped_file(const DeviceInfo& device) {
  std::error_code ignored;
  for (const fs::path& folder : data_folders("tuning")) {
    if (fs::path file = folder / tuning_file_name(device); fs::exists(file, ignored)) return file;
  }
  return {};
}

Tuning read_tuning(const fs::path& file, const Registry& registry) {
  TuningResult result = load_tuning(file, registry);
  if (result.tuning) return *std::move(result.tuning);
  std::string told;
  for (const Diagnostic& error : result.errors) told += "\n" + to_string(error);
  throw Error(fmt::format(
      "reading the tuning file '{}': {}{}", printable_line(file.string()),
      result.errors.size() == 1 ? "an error" : fmt::format("{} errors", result.errors.size()), told));
}

std::string driver_text(const DeviceInfo& device) {
  return device.driver_name + (device.driver_info.empty() ? "" : " ") + device.driver_info;
}

std::string note_of(const Tuning& tuning, const DeviceInfo& device) {
  if (tuning.device != device.name)
    return printable_line(fmt::format("made on {}, and this is {}", tuning.device, device.name));
  const std::string driver = driver_text(device);
  if (tuning.driver.empty() || tuning.driver == driver) return "";
  return printable_line(fmt::format("made with the driver {}, and this is {}", tuning.driver, driver));
}

}  // namespace

std::string tuning_file_name(const DeviceInfo& device) {
  return slug_of(device.name) + ".yaml";
}

std::optional<DeviceTuning> tuning_for(const std::string& asked, const DeviceInfo& device,
                                       const Registry& registry) {
  if (asked == no_tuning) return std::nullopt;
  const bool is_shipped = asked == shipped_tuning;
  const fs::path file = is_shipped ? shipped_file(device) : fs::path(asked);
  if (file.empty()) return std::nullopt;
  DeviceTuning made{.tuning = read_tuning(file, registry), .file = file, .hash = {}, .note = {}};
  if (is_shipped && made.tuning.device != device.name) {
    throw Error(
        printable_line(fmt::format("taking the tuning file '{}': its name is that of {}, but it says that it "
                                   "is for {}; name a file with "
                                   "--tuning, or none",
                                   file.string(), device.name, made.tuning.device)));
  }
  made.hash = hash_hex(whole_regular_file(file, cases::SourceFile::max_bytes).value_or(""));
  made.note = note_of(made.tuning, device);
  return made;
}

void check_named_tuning(const std::string& asked, const Registry& registry) {
  if (asked != no_tuning && asked != shipped_tuning) read_tuning(asked, registry);
}

}  // namespace assay::app
