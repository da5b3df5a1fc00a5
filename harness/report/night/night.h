#pragma once

#include "harness/base/error.h"
#include "harness/report/compare/compare.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/writers/markdown.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Lists of a night's report are cut at this length, with a count of the rest: on a device that is lost at
/// the start of a night, every planned row has failed.
inline constexpr std::size_t most_listed_rows = 1000;

/// A row that failed or was lost.
struct FailedRow {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;
  std::string repro;  ///< command that runs the case again
};

/// The part of a device's run that a night's report shows. Much smaller than the run's records.
struct RunDigest {
  RunInfo run;
  bool complete = false;
  bool cut_off = false;
  std::size_t rows = 0;
  std::map<Status, std::size_t> statuses;
  std::vector<FailedRow> failures;  ///< rows that never ran come last
  std::size_t failures_left_out = 0;
  std::vector<FailureGroup> groups;  ///< all failures; their rows are places in the report
  std::vector<FailedRow> examples;   ///< of each group
  std::string example;               ///< failure_text() of the first group's example
  double rows_s = 0;                 ///< sum of the rows' wall times

  /// The number of rows in a class of statuses.
  std::size_t count(StatusClass wanted) const;
};
/// `before` is the run of the last good night, in which a failure that is not new failed too; null: there is
/// none, and no failure is called new.
RunDigest digest_of(const RunReport& report, const RunReport* before = nullptr);

/// The part of the comparison with the last good run that a night's report shows.
struct ComparisonDigest {
  RunInfo base;                         ///< the last good night's run
  bool cross_device = false;            ///< that run was on another device: speed gets no verdict
  std::optional<MachineShift> machine;  ///< of the device since that run; absent: on another device
  std::map<Verdict, std::size_t> totals;
  std::size_t without_verdict = 0;
  std::vector<RowVerdict> rows;  ///< all but SAME, worst first
  std::size_t rows_left_out = 0;
  /// Rows that are right on both sides with different bits in their outputs: rows with exact outputs, whose
  /// reference must have changed, and rows with bounded outputs.
  std::size_t changed_exact = 0, changed_bounded = 0;
  /// Rows that had a time in the last good run, those of them whose time can be trusted, and those of the
  /// latter that are SUSPECT now.
  std::size_t timed_before = 0, trusted_before = 0, suspect_now = 0;

  /// Whether most times of the last good run cannot be trusted themselves, as with the validation layer on,
  /// so that slower rows do not show.
  bool has_untrusted_base() const;
};
ComparisonDigest digest_of(const RunComparison& comparison);

/// The night verdict of a device, or of the whole night: the worst of its devices'. The last enumerator is
/// the worst.
enum class NightVerdict : std::uint8_t {
  Good,            ///< complete, rows were judged, none failed, none is worse than before
  NothingJudged,   ///< no row has an answer that could be judged
  Regressions,     ///< no row failed, but rows are worse than in the last good night
  Failures,        ///< rows failed
  Infrastructure,  ///< a report is missing, damaged or not complete, rows were lost, or the machine shifted
};
inline constexpr int night_verdict_count = 5;

std::string_view name_of(NightVerdict verdict);  ///< "GOOD", "NOTHING_JUDGED", ...
ExitCode exit_code(NightVerdict verdict);

/// A worse row that was accepted alone (--accept ID), compared with the last good night.
struct AcceptedChange {
  Verdict verdict = Verdict::Slower;
  double ratio = 0;   ///< its time / the last good night's, without the machine's shift; 0: none
  std::string night;  ///< name of the night in which it was accepted
};

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
  bool is_accepted = false;           ///< regressions and a shift of the machine were accepted (--accept)
  std::set<std::string> accepted_rows;  ///< ids of worse rows that were accepted alone (--accept ID)
  /// Accepted changes that hold: of these rows, and those of earlier nights since the last good one. A row
  /// of an earlier night that was not reached tonight has one too.
  std::map<RowKey, AcceptedChange> accepted_changes;
  std::set<RowKey> carried_over;  ///< rows that are worse tonight, as was accepted in an earlier night
  /// Rows that were accepted in an earlier night and have become worse since.
  std::map<RowKey, AcceptedChange> changed_again;
  std::size_t accepted = 0;        ///< number of worse rows that were accepted alone, or carried over
  bool becomes_last_good = false;  ///< the link to its last good night is moved to this one
  double duration_s = 0;           ///< from the run's start to its journal's last change
  std::uintmax_t bytes = 0;        ///< size of its report's files

  std::size_t regressions() const;  ///< rows that are worse and were not accepted alone
  /// Whether a row that is worse was accepted alone, tonight or in an earlier night.
  bool is_accepted_row(const RowInfo& row) const;
  /// The machine's shift since the last good night; null: none, or it is unknown.
  const MachineShift* shift() const;
  /// Whether the machine's shift is a problem of this night: it is large, and was not accepted.
  bool has_shifted() const;
  /// Whether slower rows may be hidden: the last good night has times that can be trusted, and this one has
  /// the validation layer on, or is SUSPECT in more than half of these rows.
  bool has_lost_times() const;
  /// The problems and warnings, with what is to be said about the machine's shift and times that cannot be
  /// trusted.
  std::vector<std::string> all_problems() const;
  std::vector<std::string> all_warnings() const;
  NightVerdict verdict() const;
};

/// What --strict makes a failure, a rule per sentence: "cases/expectations/gpu.yaml:3: stale 'op/*': remove
/// it". Empty without --strict.
std::vector<std::string> strict_notes(const DeviceNight& device);

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
  std::set<std::string> accepted_rows;
  std::map<RowKey, AcceptedChange> accepted_changes;
  std::string last_good_run;  ///< id of the run that it was compared with; empty: none
  bool became_last_good = false;
};
/// Earlier verdicts by device slug. Empty if the text is not a nightly.json that this assay can read.
std::map<std::string, EarlierVerdict> earlier_verdicts(const std::string& nightly_json);

/// The night as a summary for GitHub.
GithubSummary night_summary(const Night& night);

/// verdict.txt: a night for people, with the night verdict in the first line, which is as long as it has to
/// be. Plain text of 100 columns otherwise, except for longer single words (ids, paths); commands are broken
/// so that a shell continues them.
std::string night_text(const Night& night);

}  // namespace assay
