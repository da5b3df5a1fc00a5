#include "harness/commands/device_profiles.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_name = 60;  ///< columns of a profile's name, which names folders too

/// Names of the shipped profiles, without ".json".
std::set<std::string> shipped() {
  std::set<std::string> names;
  for (const fs::path& folder : data_folders("profiles")) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() == ".json") names.insert(at->path().stem().string());
    }
  }
  return names;
}

fs::path file_of(const std::string& asked) {
  std::error_code error;
  if (fs::exists(asked, error)) return asked;
  if (asked.find('/') == asked.npos) {
    for (const fs::path& folder : data_folders("profiles")) {
      if (const fs::path file = folder / (asked + ".json"); fs::exists(file, error)) return file;
    }
  }
  throw Error(printable_line(fmt::format(
      "looking for the device profile '{}': there is no such file, and the shipped profiles are: {}",
      shortened(asked, most_name), fmt::join(shipped(), ", "))));
}

DeviceProfile profile_of_report(const fs::path& report) {
  const fs::path journal = only_journal(report);
  const DeviceInfo device = run_of_journal(journal).device;
  if (!device.as_if.empty()) {
    throw Error(printable_line(
        fmt::format("taking the device of '{}' as a profile: it was run with a profile itself, --as-if {}",
                    journal.string(), device.as_if)));
  }
  std::string name = slug_of(device.name);
  std::ranges::replace(name, '-', '_');
  // Written and read as a profile, since somebody else may have made the report: its limits are checked too.
  return parse_profile(profile_json(device), journal.string(), shortened(name, most_name));
}

bool is_report(const fs::path& file) {
  const std::string name = file.filename().string();
  return fs::is_directory(file) || name.ends_with(".jsonl") || name.ends_with(".zst");
}

}  // namespace

DeviceProfile find_profile(const std::string& asked) {
  const fs::path file = file_of(asked);
  if (file.filename() == "run.json") return profile_of_report(fs::absolute(file).parent_path());
  if (is_report(file)) return profile_of_report(file);
  const std::optional<std::string> text = whole_regular_file(file, most_profile_bytes);
  if (!text) {
    throw Error(printable_line(fmt::format(
        "reading the device profile '{}': it is no regular file that can be read, or has more than {} bytes",
        shortened(asked, most_name), most_profile_bytes)));
  }
  return parse_profile(*text, file.string(), shortened(printable_line(file.stem().string()), most_name));
}

std::optional<DeviceProfile> profile_of(const std::string& asked) {
  return asked.empty() ? std::nullopt : std::optional(find_profile(asked));
}

}  // namespace assay::app
