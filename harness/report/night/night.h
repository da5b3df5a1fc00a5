#pragma once

#include "harness/base/error.h"
#include "harness/report/night/digest.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// What is said of a device's night, and of the whole one: the worst of its devices'. The worst is the last.
enum class NightVerdict : std::uint8_t {
  Good,            ///< complete, something was judged, nothing failed, nothing is worse than it was
  NothingJudged,   ///< no row came to an answer that could be judged
  Regressions,     ///< no row failed, but rows are worse than in the last good night
  Failures,        ///< rows failed
  Infrastructure,  ///< a report is missing, damaged or not complete, or rows were lost
};
inline constexpr int night_verdict_count = 5;

std::string_view name_of(NightVerdict verdict);  ///< "GOOD", "NOTHING_JUDGED", ...
ExitCode exit_code(NightVerdict verdict);

/// The last good night of a device, which it is held against.
struct LastGood {
  std::string report;  ///< folder of its report, from the night's folder
  ComparisonDigest comparison;
};

/// One device's part of a night.
struct DeviceNight {
  std::string slug;                   ///< name of its folders: "nvidia-h100-80gb-hbm3"
  std::vector<std::string> problems;  ///< of infrastructure, sentences: what is so, and what to do
  std::string report;                 ///< folder of its report, from the night's folder; empty: none
  std::optional<RunDigest> run;       ///< absent: there is none, or it cannot be read
  bool has_strict_notes = false;      ///< --strict: rules of the expectations are expired or stale
  std::optional<LastGood> last_good;  ///< absent: none yet, or it cannot be compared
  std::string note;                   ///< why there is no comparison, where that is no problem
  std::set<Verdict> failing;          ///< verdicts that are regressions
  bool is_accepted = false;           ///< what is worse was said to be meant
  bool becomes_last_good = false;     ///< the link to its last good night is moved to this one
  double duration_s = 0;              ///< from the run's start to its journal's last change
  std::uintmax_t bytes = 0;           ///< of its report's files

  std::size_t regressions() const;
  NightVerdict verdict() const;
};

/// A night: what every device did.
struct Night {
  std::string name;                          ///< of its folder
  std::string version;                       ///< of the assay that judged
  std::string when;                          ///< it judged, ISO 8601
  std::vector<std::string> problems;         ///< of no single device
  std::vector<DeviceNight> devices;          ///< in the order of their slugs
  std::uintmax_t bytes = 0;                  ///< of all files in its folder
  std::optional<std::uintmax_t> free_bytes;  ///< of its file system; absent: it does not tell

  NightVerdict verdict() const;
  std::size_t good() const;  ///< devices
};

}  // namespace assay
