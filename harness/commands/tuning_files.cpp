#include "harness/commands/tuning_files.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/commands/run_options.h"
#include "harness/device/driver_name.h"

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

/// The result has a tuning.
TuningResult read_tuning(const fs::path& file, const Registry& registry) {
  if (file.empty()) throw Error("taking a tuning file: --tuning is empty; give auto, none or a file");
  TuningResult result = load_tuning(file, registry);
  if (result.tuning) return result;
  std::string told;
  for (const Diagnostic& error : result.errors) told += "\n" + to_string(error);
  throw Error(fmt::format(
      "reading the tuning file '{}': {}{}", printable_line(file.string()),
      result.errors.size() == 1 ? "an error" : fmt::format("{} errors", result.errors.size()), told));
}

std::string note_of(const Tuning& tuning, const DeviceInfo& device) {
  if (tuning.device != device.name)
    return printable_line(fmt::format("made on {}, and this is {}", tuning.device, device.name));
  const std::string driver = driver_of(device);
  if (tuning.driver.empty() || tuning.driver == driver) return "";
  return printable_line(fmt::format("made with the driver {}, and this is {}", tuning.driver, driver));
}

}  // namespace

std::string tuning_file_name(const DeviceInfo& device) {
  return slug_of(device.name) + ".yaml";
}

const std::string& tuning_of(const RunOptions& options) {
  static const std::string none = no_tuning;
  if (!options.cases.nodes) return options.tuning;
  if (options.tuning == shipped_tuning || options.tuning == no_tuning) return none;
  throw Error(
      fmt::format("taking the tuning file '{}': nodes of chains (--nodes) are timed as chains run them, with "
                  "the built-in defaults; leave --tuning out",
                  printable_line(options.tuning)));
}

std::optional<DeviceTuning> found_tuning(const std::string& asked, const DeviceInfo& device,
                                         const Registry& registry) {
  if (asked == no_tuning) return std::nullopt;
  const bool is_shipped = asked == shipped_tuning;
  const fs::path file = is_shipped ? shipped_file(device) : fs::path(asked);
  if (is_shipped && file.empty()) return std::nullopt;
  TuningResult read = read_tuning(file, registry);
  DeviceTuning made{.tuning = *std::move(read.tuning),
                    .file = file,
                    .is_shipped = is_shipped,
                    .hash = std::move(read.hash),
                    .note = {}};
  if (is_shipped && made.tuning.device != device.name) {
    throw Error(
        printable_line(fmt::format("taking the tuning file '{}': its name is that of {}, but it says that it "
                                   "is for {}; name a file with "
                                   "--tuning, or none",
                                   file.string(), device.name, made.tuning.device)));
  }
  made.note = note_of(made.tuning, device);
  made.is_ignored = is_shipped && !made.note.empty();
  return made;
}

std::optional<DeviceTuning> tuning_for(const std::string& asked, const DeviceInfo& device,
                                       const Registry& registry) {
  std::optional<DeviceTuning> found = found_tuning(asked, device, registry);
  return found && found->is_ignored ? std::nullopt : std::move(found);
}

std::string told_in_report(const DeviceTuning& found) {
  const bool is_elsewhere = found.is_shipped && found.file.is_absolute();
  std::string told = printable_line((is_elsewhere ? found.file.filename() : found.file).string());
  if (found.is_ignored) told += ": not taken";
  return found.note.empty() ? told : told + ": " + found.note;
}

void check_named_tuning(const std::string& asked, const Registry& registry) {
  if (asked != no_tuning && asked != shipped_tuning) read_tuning(asked, registry);
}

}  // namespace assay::app
