#pragma once

#include "harness/base/error.h"
#include "harness/report/night/digest.h"
#include "harness/report/writers/github_summary.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The night verdict of a device, or of the whole night: the worst of its devices'. The last enumerator is
/// the worst.
enum class NightVerdict : std::uint8_t {
  Good,            ///< complete, rows were judged, none failed, none is worse than before
  NothingJudged,   ///< no row has an answer that could be judged
  Regressions,     ///< no row failed, but rows are worse than in the last good night
  Failures,        ///< rows failed
  Infrastructure,  ///< a report is missing, damaged or not complete, or rows were lost
};
inline constexpr int night_verdict_count = 5;

std::string_view name_of(NightVerdict verdict);  ///< "GOOD", "NOTHING_JUDGED", ...
ExitCode exit_code(NightVerdict verdict);

/// The last good night of a device, with which this night is compared.
struct LastGood {
  std::string report;  ///< folder of that night's report, relative to this night's folder
  ComparisonDigest comparison;
};

/// One device's part of a night.
struct DeviceNight {
  std::string slug;                   ///< name of the device's folders: "nvidia-h100-80gb-hbm3"
  std::vector<std::string> problems;  ///< problems of infrastructure as sentences: the cause, and what to do
  std::vector<std::string> warnings;  ///< sentences about what is wrong, but not with this night
  std::string report;                 ///< folder of its report, relative to the night's folder; empty: none
  std::optional<RunDigest> run;       ///< absent: there is no report, or it cannot be read
  bool has_strict_notes = false;      ///< --strict: rules of the expectations are expired or stale
  std::optional<LastGood> last_good;  ///< absent: none yet, or it cannot be compared
  std::string note;                   ///< why there is no comparison, if that is not a problem
  std::set<Verdict> failing;          ///< verdicts that are regressions
  bool is_accepted = false;           ///< regressions were accepted (--accept)
  bool becomes_last_good = false;     ///< the link to its last good night is moved to this one
  double duration_s = 0;              ///< from the run's start to its journal's last change
  std::uintmax_t bytes = 0;           ///< size of its report's files

  std::size_t regressions() const;
  NightVerdict verdict() const;
};

/// A night: what every device did.
struct Night {
  std::string name;                          ///< name of the night's folder
  std::string version;                       ///< version of the assay that judged
  std::string when;                          ///< time of the verdict, ISO 8601
  std::vector<std::string> problems;         ///< problems that do not belong to a single device
  std::vector<DeviceNight> devices;          ///< ordered by slug
  std::uintmax_t bytes = 0;                  ///< size of all files in its folder
  std::optional<std::uintmax_t> free_bytes;  ///< free space of its file system; absent: unknown

  NightVerdict verdict() const;
  std::size_t good() const;  ///< number of good devices
};

/// Version of nightly.json; raised when a field changes its meaning. Adding a field does not raise it.
inline constexpr int nightly_schema = 1;

/// nightly.json: everything about a night, for machines. reports/README.md names its fields.
std::string night_json(const Night& night);

/// Whether a text is a nightly.json, of any schema.
bool is_night_json(const std::string& text);

/// What an earlier verdict on a device's night said. Paths are relative to the night's folder.
struct EarlierVerdict {
  std::string report;     ///< folder of the report that was judged; empty: none
  std::string last_good;  ///< folder of the report that it was compared with; empty: none
  std::string started_utc;
  bool is_accepted = false;
  bool became_last_good = false;
};
/// Earlier verdicts by device slug. Empty if the text is not a nightly.json that this assay can read.
std::map<std::string, EarlierVerdict> earlier_verdicts(const std::string& nightly_json);

/// The night as a summary for GitHub.
GithubSummary night_summary(const Night& night);

/// verdict.txt: a night for people, with the night verdict in the first line. Plain text of 100 columns,
/// except for longer single words (ids, paths); commands are broken so that a shell continues them.
std::string night_text(const Night& night);

}  // namespace assay
