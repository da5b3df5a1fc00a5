#include "harness/commands/farm/page.h"

#include "harness/base/file.h"
#include "harness/commands/farm/night_folder.h"
#include "harness/commands/find_report.h"
#include "harness/commands/mutate/fault_page.h"
#include "harness/commands/read/report.h"
#include "harness/commands/read/runs_over_time.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/html/page_data.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/night/night.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/run_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using PagePaths = std::vector<fs::path>;

/// The reports that are given with --base.
class Bases {
 public:
  Bases(const PagePaths& paths, std::size_t tracks) : is_only_(tracks == 1) {
    for (const fs::path& path : paths) std::ranges::copy(read_reports({path}), std::back_inserter(reports_));
  }

  bool are_named() const { return !reports_.empty(); }

  /// The base that has the same device as this report and a row in common with it; of several the one whose
  /// kind of run is closest, of these the last. If there is only one base and one track, the devices may
  /// differ. Null: there is none.
  const RunReport* of(const RunReport& newest) {
    const RunReport* base = nullptr;
    for (const RunReport& report : reports_) {
      const bool may_meet =
          device_key(report.run) == device_key(newest.run) || (is_only_ && reports_.size() == 1);
      if (!may_meet || !have_a_row_in_common(report, newest)) continue;
      if (base == nullptr || closeness(report, newest) >= closeness(*base, newest)) base = &report;
    }
    used_ = used_ || base;
    return base;
  }

  void refuse_unused() const {
    if (!are_named() || used_) return;
    throw Error("comparing with --base: no shown report has a row in common with it");
  }

 private:
  /// 2: runs of one kind; 1: of kinds whose answers are comparable; 0: of others.
  static int closeness(const RunReport& base, const RunReport& newest) {
    const RunKind one = kind_of_run(base.run), other = kind_of_run(newest.run);
    if (one == other) return 2;
    return have_comparable_answers(one, other) ? 1 : 0;
  }

  static bool have_a_row_in_common(const RunReport& a, const RunReport& b) {
    std::set<RowKey> keys;
    for (const Record& record : a.records) keys.insert(key_of(record.info));
    return std::ranges::any_of(b.records,
                               [&](const Record& record) { return keys.contains(key_of(record.info)); });
  }

  std::vector<RunReport> reports_;
  bool is_only_;
  bool used_ = false;
};

/// A night that was judged, and what its reports were compared with.
class JudgedNight {
 public:
  /// Throws Error if the folder has no verdict.
  explicit JudgedNight(const fs::path& folder) : folder_(folder) {
    constexpr std::uintmax_t most_text_bytes = std::uintmax_t{1} << 26;
    const auto text = whole_regular_file(folder / verdict_text_name, most_text_bytes);
    const std::string json = night_json_in(folder);
    if (!text || !is_night_json(json)) {
      throw Error(
          fmt::format("writing a page: the night '{}' has no {} and {} yet; `assay verdict` writes them",
                      folder.string(), verdict_text_name, nightly_json_name));
    }
    verdict_ = {.name = fs::weakly_canonical(folder).filename().string(), .text = *text};
    for (const auto& [slug, verdict] : earlier_verdicts(json)) {
      if (verdict.report.empty()) continue;
      bases_.emplace(fs::weakly_canonical(folder / verdict.report),
                     verdict.last_good.empty() ? fs::path() : folder / verdict.last_good);
    }
  }

  const NightText& verdict() const { return verdict_; }

  /// The folder of the report that this journal's report was compared with; empty: with none. Nothing if the
  /// journal is not of this night.
  std::optional<fs::path> base_of(const fs::path& journal) const {
    const auto found = bases_.find(fs::weakly_canonical(journal.parent_path()));
    return found == bases_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  fs::path folder_;
  NightText verdict_;
  std::map<fs::path, fs::path> bases_;  ///< by the folder of a report
};

/// The newest report before a track's last run that has a row in common with it, can be read, and is of the
/// same kind: summaries of old runs do not say theirs.
std::optional<RunReport> report_before(const RunReport& newest, const KnownRuns& runs, const Track& track,
                                       LeftOut& left_out) {
  std::set<std::uint32_t> rows;
  for (const NightRow& row : runs.nights.all[track.nights.back()].rows) rows.insert(row.row);
  const auto is_common = [&](const NightRow& row) { return rows.contains(row.row); };
  for (std::size_t i = track.nights.size() - 1; i-- > 0;) {
    if (std::ranges::none_of(runs.nights.all[track.nights[i]].rows, is_common)) continue;
    const fs::path& journal = runs.journals[track.nights[i]];
    try {
      RunReport report = read_checked_journal(journal);
      if (kind_of_run(report.run) == kind_of_run(newest.run)) return report;
    } catch (const Error& error) {
      left_out.warn(
          fmt::format("the newest run is not compared with {}: {}", journal.string(), error.what()));
    }
  }
  return std::nullopt;
}

/// What newest runs are compared with.
struct Comparisons {
  Bases named;                       ///< with --base
  std::optional<JudgedNight> night;  ///< with --night
};

/// As its night's verdict did, else with a named base, else with the run before.
std::optional<RunReport> chosen_base(const RunReport& newest, const KnownRuns& runs, const Track& track,
                                     Comparisons& comparisons, LeftOut& left_out) {
  const fs::path& journal = runs.journals[track.nights.back()];
  if (const auto of_verdict = comparisons.night ? comparisons.night->base_of(journal) : std::nullopt) {
    if (of_verdict->empty()) return std::nullopt;
    return left_out.or_left_out(*of_verdict, [&] { return read_checked_journal(only_journal(*of_verdict)); });
  }
  if (!comparisons.named.are_named()) return report_before(newest, runs, track, left_out);
  const RunReport* base = comparisons.named.of(newest);
  return base ? std::optional(*base) : std::nullopt;
}

/// What a newest run is compared with; nothing if that cannot be.
std::optional<RunReport> base_of(const RunReport& newest, const KnownRuns& runs, const Track& track,
                                 Comparisons& comparisons, LeftOut& left_out) {
  std::optional<RunReport> base = chosen_base(newest, runs, track, comparisons, left_out);
  if (!base) return base;
  const RunKind kind = kind_of_run(newest.run), kind_of_base = kind_of_run(base->run);
  if (have_comparable_answers(kind, kind_of_base)) return base;
  left_out.warn(fmt::format("run {} is not compared with run {}: the former is {}, the latter {}",
                            newest.run.run_id, base->run.run_id, kind_text(kind), kind_text(kind_of_base)));
  return std::nullopt;
}

/// Leaves out the tracks of a device that have rows in common with a newer one: their runs are of another
/// kind, and not compared with its runs.
std::vector<Track> shown_tracks(const KnownRuns& runs, LeftOut& left_out) {
  const std::vector<Track> tracks = tracks_of(runs.nights.all);
  const auto newest = [&](const Track& track) -> const NightSummary& {
    return runs.nights.all[track.nights.back()];
  };
  std::vector<Track> shown;
  for (const Track& track : tracks) {
    std::set<std::uint32_t> rows;
    for (const NightRow& row : newest(track).rows) rows.insert(row.row);
    const HistoryRun& run = newest(track).run;
    const RunKind kind = kind_of_run(run);
    const auto replaces = [&](const Track& other) {
      const HistoryRun& later = newest(other).run;
      return later.device_key == run.device_key && kind_of_run(later) != kind &&
             std::pair(later.date, later.run_id) > std::pair(run.date, run.run_id) &&
             std::ranges::any_of(newest(other).rows,
                                 [&](const NightRow& row) { return rows.contains(row.row); });
    };
    const auto other = std::ranges::find_if(tracks, replaces);
    if (other == tracks.end()) {
      shown.push_back(track);
      continue;
    }
    const HistoryRun& later = newest(*other).run;
    const std::size_t count = track.nights.size();
    const std::string these =
        count == 1 ? "run " + run.run_id : fmt::format("{} runs until {}", count, run.run_id);
    left_out.warn(fmt::format(
        "{0} {1} left out, as not compared with run {2}: the former {1} {3}, the latter is {4}", these,
        count == 1 ? "is" : "are", later.run_id, kind_text(kind), kind_text(kind_of_run(later))));
  }
  return shown;
}

/// Adds a track. False: its newest run cannot be read.
bool add_track(const KnownRuns& runs, const Track& track, Comparisons& comparisons, PageData& data,
               LeftOut& left_out) {
  const fs::path& journal = runs.journals[track.nights.back()];
  const auto newest = left_out.or_left_out(journal, [&] { return read_checked_journal(journal); });
  if (!newest) return false;
  const std::optional<RunReport> base = base_of(*newest, runs, track, comparisons, left_out);
  data.add(track, *newest, base ? &*base : nullptr);
  return true;
}

/// The data of a page. Nothing if a newest run cannot be read: it is then no longer among `runs`, which may
/// have other tracks without it.
std::optional<std::vector<PagePart>> parts_of(KnownRuns& runs, const PageOptions& options,
                                              const RunNoise& noise, LeftOut& left_out) {
  const std::vector<Track> tracks = shown_tracks(runs, left_out);
  Comparisons comparisons{.named = Bases(options.base, tracks.size())};
  if (!options.night.empty()) comparisons.night.emplace(options.night);
  PageData data(runs.nights, noise);
  if (comparisons.night) data.opens_with(comparisons.night->verdict());
  for (const Track& track : tracks) {
    if (add_track(runs, track, comparisons, data, left_out)) continue;
    const auto unreadable = static_cast<std::ptrdiff_t>(track.nights.back());
    runs.nights.all.erase(runs.nights.all.begin() + unreadable);
    runs.journals.erase(runs.journals.begin() + unreadable);
    return std::nullopt;
  }
  comparisons.named.refuse_unused();
  return std::move(data).parts();
}

/// The data of the reports that the options name; of no report if they name none.
std::vector<PagePart> parts_of_reports(const PageOptions& options, const Terminal& terminal) {
  if (options.reports.empty()) {
    const NightSummaries none;
    return PageData(none).parts();
  }
  LeftOut left_out(terminal.log, "writing a page");
  const RunNoise noise = read_run_noise(options.run_noise);
  KnownRuns runs = read_runs(options.reports, left_out);
  std::optional<std::vector<PagePart>> parts;
  while (!parts && !runs.journals.empty()) parts = parts_of(runs, options, noise, left_out);
  if (!parts) left_out.throw_none_readable();
  return std::move(*parts);
}

void check(const PageOptions& options) {
  if (!options.reports.empty()) return;
  if (options.faults.empty())
    throw Error("writing a page: name reports, or a folder of `assay mutate` with --faults");
  if (!options.base.empty() || !options.night.empty())
    throw Error("writing a page: --base and --night are about reports, and none is named");
}

}  // namespace

ExitCode page(const PageOptions& options, const Terminal& terminal) {
  check(options);
  std::optional<PagePart> faults;
  if (!options.faults.empty()) faults = fault_part(options.faults);
  std::vector<PagePart> parts = parts_of_reports(options, terminal);
  if (faults) parts.push_back(std::move(*faults));
  write_text(options.out, terminal.out, [&] { return page_html(parts); });
  return ExitCode::Fine;
}

}  // namespace assay::app
