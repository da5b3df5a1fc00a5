#include "harness/commands/device_profiles.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_name = 60;  ///< columns of a profile's name, which names folders too

/// Names of the shipped profiles, without ".json".
std::set<std::string> shipped() {
  std::set<std::string> names;
  for (const fs::path& folder : data_folders("profiles")) {
    for (const fs::path& file : sorted_entries(folder)) {
      if (file.extension() == ".json") names.insert(file.stem().string());
    }
  }
  return names;
}

/// A shipped one before a file of that name, so that the name means the same in every folder.
fs::path file_of(const std::string& asked) {
  std::error_code error;
  if (asked.find('/') == asked.npos) {
    for (const fs::path& folder : data_folders("profiles")) {
      if (const fs::path file = folder / (asked + ".json"); fs::exists(file, error)) return file;
    }
  }
  if (fs::exists(asked, error)) return asked;
  const std::set<std::string> names = shipped();
  throw Error(printable_line(fmt::format(
      "looking for the device profile '{}': there is no such file, and {}", shortened(asked, most_name),
      names.empty() ? fmt::format("there is no folder profiles/ with the shipped ones {}", data_places)
                    : fmt::format("the shipped profiles are: {}", fmt::join(names, ", ")))));
}

bool is_shipped(const fs::path& file) {
  const std::vector<fs::path> folders = data_folders("profiles");
  return std::ranges::find(folders, file.parent_path()) != folders.end();
}

/// A profile that somebody wrote has a part of the hash of what it says in its name: reports of two files of
/// one name, or of a file before and after an edit, are not compared with each other.
DeviceProfile named_by_content(DeviceProfile profile) {
  constexpr std::size_t digits = 8;
  profile.name += "@" + source_hash(profile_json(profile.device)).substr(0, digits);
  profile.device.name = profile.device.as_if = profile.name;
  return profile;
}

DeviceProfile profile_of_report(const fs::path& report) {
  const fs::path journal = only_journal(report);
  const DeviceInfo device = run_of_journal(journal).device;
  if (device.name.empty() || device.type == "imported") {
    throw Error(printable_line(fmt::format(
        "taking the device of '{}' as a profile: it does not say what the device can do", journal.string())));
  }
  if (!device.as_if.empty()) {
    throw Error(printable_line(
        fmt::format("taking the device of '{}' as a profile: it was run with a profile itself, --as-if {}",
                    journal.string(), device.as_if)));
  }
  std::string name = slug_of(device.name);
  std::ranges::replace(name, '-', '_');
  // Written and read as a profile, since somebody else may have made the report: its limits are checked too.
  return named_by_content(parse_profile(profile_json(device), journal.string(), shortened(name, most_name)));
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
  DeviceProfile profile =
      parse_profile(*text, file.string(), shortened(printable_line(file.stem().string()), most_name));
  return is_shipped(file) ? profile : named_by_content(std::move(profile));
}

std::optional<DeviceProfile> profile_of(const std::string& asked) {
  return asked.empty() ? std::nullopt : std::optional(find_profile(asked));
}

}  // namespace assay::app
