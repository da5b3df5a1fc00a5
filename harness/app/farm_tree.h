#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

// What lies in an output folder, or in the folder of a farm with one output folder a night. All paths are
// relative to it; nothing is looked for behind a link.

/// How a folder is called while it is being removed: what a kill leaves of it is no report.
inline constexpr const char* deleting_prefix = ".deleting-";

/// A device's report: runs/<run id>/<device>/ with a journal in it, at the top, in scratch or in a night.
struct FarmReport {
  std::filesystem::path path;
  std::filesystem::path root;  ///< output folder that it is in: "", "scratch" or a night
  std::string run_id;          ///< begins with the UTC time at which it began: "20260102T030405Z-1a2b3c"
  std::string slug;
  std::uintmax_t bytes = 0;
  bool is_complete = false;  ///< its journal ends as that of a run that came to its end
  bool is_written = false;   ///< a process has its journal open
  std::string foreign;       ///< what stands in it that no run writes; empty: nothing
};

/// The shards of a device's report, NIGHT/shards/<device>/<number>.
struct FarmShards {
  std::filesystem::path path;
  std::filesystem::path night;
  std::string slug;
  std::uintmax_t bytes = 0;
  bool is_written = false;  ///< a process has the journal of one of them open
  std::string foreign;
};

/// An output folder of one night.
struct FarmNight {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;  ///< of everything in it
  bool was_judged = false;   ///< it has a nightly.json
  std::string foreign;       ///< what stands in it that is not of a night; empty: nothing
};

/// A link that holds what it leads to.
struct FarmLink {
  std::filesystem::path path;
  std::filesystem::path target;  ///< in this tree; those that lead out of it or nowhere are left out
};

struct FarmTree {
  std::vector<FarmReport> reports;
  std::vector<FarmShards> shards;
  std::vector<FarmNight> nights;
  std::vector<FarmLink> links;                      ///< but for those of nights to what is in them
  std::vector<std::filesystem::path> own_links;     ///< to the newest run of a device, wherever they lead
  std::vector<std::filesystem::path> half_deleted;  ///< what a removal that was killed left
};

/// Looks through a folder. What cannot be read counts as foreign. Throws Error: Usage where it is no folder,
/// or holds nothing of ours, Infrastructure where it cannot be read.
FarmTree scan_farm(const std::filesystem::path& folder);

}  // namespace assay::app
