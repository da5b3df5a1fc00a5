#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay::app {

// Layout of a farm's folder: DIR/<night> is the output folder of a night's runs, DIR/latest is a link to the
// newest night, and DIR/last-good/<slug> is a link to a device's report in its last good night.

inline constexpr const char* last_good_name = "last-good";
inline constexpr const char* shards_name = "shards";
inline constexpr const char* nightly_json_name = "nightly.json";
inline constexpr const char* verdict_text_name = "verdict.txt";
inline constexpr const char* plan_name = "plan";  ///< only in nights of scripts/farm/nightly.sh

/// One device in a night's folder.
struct DeviceFolder {
  std::filesystem::path folder;  ///< folder of its report, links followed; empty: see problem
  std::string problem;           ///< why there is no report, and what to do
};

/// Every device in a night's folder, by its slug: from the link that a run makes, or a folder that holds a
/// journal; if there is neither, from its newest run below runs/, or from unmerged shards. Throws Error:
/// Usage if the night is not a folder, Infrastructure if it cannot be read.
std::map<std::string, DeviceFolder> devices_of_night(const std::filesystem::path& night);

/// The text of a night's nightly.json; empty if it does not exist, is not a regular file, cannot be read or
/// has more than 256 MiB.
std::string night_json_in(const std::filesystem::path& night);

/// The targets of the links in a folder such as last-good, by name; an empty path: the link is dangling.
std::map<std::string, std::filesystem::path> links_in(const std::filesystem::path& folder);

/// Makes a link point to a folder: a new relative link replaces the old one by renaming. Throws
/// Error(Infrastructure), also if something other than a link is in its place.
void move_link(const std::filesystem::path& link, const std::filesystem::path& folder);

}  // namespace assay::app
