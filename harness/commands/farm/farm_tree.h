#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

// The content of an output folder, or of a farm's folder with one output folder per night. All paths are
// relative to it; links are not followed.

/// Prefix of a folder while it is being removed, so that the remains after a kill are not a report.
inline constexpr const char* deleting_prefix = ".deleting-";

/// A device's report: runs/<run id>/<device>/ with a journal in it, at the top, in scratch or in a night.
struct FarmReport {
  std::filesystem::path path;
  std::filesystem::path root;  ///< output folder that contains it: "", "scratch" or a night
  std::string run_id;          ///< starts with the UTC time of the run's start: "20260102T030405Z-1a2b3c"
  std::string slug;
  std::uintmax_t bytes = 0;
  bool is_complete = false;  ///< its journal says that the run is done
  bool is_written = false;   ///< a process has its journal open
  std::string foreign;       ///< an entry that no run writes; empty: none
};

/// The shards of a device's report, NIGHT/shards/<device>/<number>.
struct FarmShards {
  std::filesystem::path path;
  std::filesystem::path night;
  std::string slug;
  std::uintmax_t bytes = 0;
  bool is_written = false;  ///< a process has one of their journals open
  std::string foreign;
};

/// A folder in the place of a night: the output folder of one (is_night), or any other.
struct FarmNight {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;  ///< size of everything in it
  bool is_night = false;     ///< it has a nightly.json, or the plan of one that was cut short
  std::string foreign;       ///< an entry that does not belong to a night; empty: none
};

/// A link that protects its target from removal.
struct FarmLink {
  std::filesystem::path path;
  std::filesystem::path target;  ///< in this tree; links out of it, and dangling ones, are left out
};

struct FarmTree {
  std::vector<FarmReport> reports;
  std::vector<FarmShards> shards;
  std::vector<FarmNight> nights;
  std::vector<FarmLink> links;                   ///< except links of nights into themselves
  std::vector<std::filesystem::path> own_links;  ///< links to the newest run of a device, even dangling ones
  std::vector<std::filesystem::path> half_deleted;  ///< remains of a removal that was killed
};

/// Scans a folder. Unreadable entries count as foreign. Throws Error: Usage if it is not a folder or holds no
/// runs, Infrastructure if it cannot be read.
FarmTree scan_farm(const std::filesystem::path& folder);

/// Sum of the sizes of all files below a folder, in bytes. Links are not followed; unreadable files and
/// folders do not count.
std::uintmax_t bytes_below(const std::filesystem::path& folder);

/// Free space for users on the file system of a path, in bytes.
std::optional<std::uintmax_t> free_bytes(const std::filesystem::path& path);

}  // namespace assay::app
