#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay::app {

// A farm's folder: DIR/<night>, each of them the output folder of its runs, DIR/latest, a link to the newest
// night, and DIR/last-good/<slug>, links to the report of each device in its last good night.

inline constexpr const char* last_good_name = "last-good";
inline constexpr const char* shards_name = "shards";
inline constexpr const char* nightly_json_name = "nightly.json";
inline constexpr const char* verdict_text_name = "verdict.txt";

/// What a night's folder has of one device.
struct DeviceFolder {
  std::filesystem::path folder;  ///< of its report, links followed; empty: see problem
  std::string problem;           ///< why there is none, and what to do
};

/// Every device that a night's folder tells of, by its slug: the link that a run makes, a folder that holds a
/// journal; where there is neither, the newest of its runs below runs/, or the shards that nobody merged.
/// Throws Error: Usage where the night is no folder, Infrastructure where it cannot be read.
std::map<std::string, DeviceFolder> devices_of_night(const std::filesystem::path& night);

/// What the links in a folder such as last-good lead to, by their names; an empty path: nowhere.
std::map<std::string, std::filesystem::path> links_in(const std::filesystem::path& folder);

/// Lets a link name a folder: a new link, relative, renamed to the place of the old one. Throws
/// Error(Infrastructure); also where what stands there is no link.
void move_link(const std::filesystem::path& link, const std::filesystem::path& folder);

}  // namespace assay::app
