#include "harness/commands/read/page.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/html/page_data.h"
#include "harness/report/journal/find_rows.h"
#include "harness/report/record/device_name.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using PagePaths = std::vector<fs::path>;

/// The folders OUT/runs/*, in the order of their names.
PagePaths run_folders(const fs::path& out) {
  PagePaths folders;
  std::error_code error;
  for (fs::directory_iterator run(out / "runs", error), end; !error && run != end; run.increment(error))
    folders.push_back(run->path());
  std::ranges::sort(folders);
  return folders;
}

/// The journals that a path stands for, and those of all runs in it if it is an output folder.
PagePaths journals_of_all_runs(const fs::path& path) {
  PagePaths journals = journals_of(path);
  for (const fs::path& run : run_folders(path)) {
    try {
      std::ranges::copy(find_journals(run), std::back_inserter(journals));
    } catch (const Error&) {  // the run was killed before it began to write
      continue;
    }
  }
  return journals;
}

/// The result of `body`; if it throws, a warning that `what` is left out, as one lost night must not prevent
/// a farm's page.
template <class Body>
auto or_left_out(const fs::path& what, std::ostream& log, Body body) -> std::optional<decltype(body())> {
  try {
    return body();
  } catch (const Error& error) {
    log << "warning: " << printable(what.string()) << " is left out: " << error.what() << '\n';
    return std::nullopt;
  }
}

/// All journals without duplicates: links of an output folder point to runs that are also below it.
PagePaths different_journals(const PagePaths& paths, std::ostream& log) {
  std::set<fs::path> seen;
  PagePaths journals;
  for (const fs::path& path : paths) {
    const auto found = or_left_out(path, log, [&] { return journals_of_all_runs(path); });
    for (const fs::path& journal : found.value_or(PagePaths{})) {
      std::error_code error;
      const fs::path place = fs::canonical(journal, error);
      if (seen.insert(error ? journal : place).second) journals.push_back(journal);
    }
  }
  return journals;
}

/// Reads a night from the summary that the run wrote; if that is missing or damaged, from its journal.
NightSummary night_of(const fs::path& journal, RowNumbers& numbers, std::ostream& log) {
  const fs::path summary = journal.parent_path() / history_name;
  if (fs::exists(summary)) {
    try {
      return read_night(numbers, [&](const HistoryAction& action) {
        return read_history(whole_file(summary).value_or(""), action);
      });
    } catch (const Error& error) {
      log << "warning: " << printable(summary.string()) << ": " << error.what()
          << "; the journal is read instead\n";
    }
  }
  const RunReport report = read_journal(journal);
  return read_night(numbers, [&](const HistoryAction& action) { return read_history(report, action); });
}

/// The runs that a page shows, and their journals.
struct KnownRuns {
  NightSummaries nights;
  PagePaths journals;  ///< one per night
};

KnownRuns read_runs(const PagePaths& paths, std::ostream& log) {
  KnownRuns runs;
  for (const fs::path& journal : different_journals(paths, log)) {
    auto night = or_left_out(journal, log, [&] { return night_of(journal, runs.nights.numbers, log); });
    if (!night) continue;
    runs.nights.all.push_back(std::move(*night));
    runs.journals.push_back(journal);
  }
  if (runs.journals.empty()) throw Error("writing a page: none of the reports can be read");
  return runs;
}

/// The reports that are given with --base.
class Bases {
 public:
  Bases(const PagePaths& paths, std::size_t tracks) : is_only_(tracks == 1) {
    for (const fs::path& path : paths) std::ranges::copy(read_reports({path}), std::back_inserter(reports_));
  }

  bool are_named() const { return !reports_.empty(); }

  /// The base that has the same device as this report and a row in common with it. If there is only one base
  /// and one track, the devices may differ. Null: there is none.
  const RunReport* of(const RunReport& newest) {
    const RunReport* base = nullptr;
    for (const RunReport& report : reports_) {
      const bool may_meet =
          device_key(report.run) == device_key(newest.run) || (is_only_ && reports_.size() == 1);
      if (may_meet && have_a_row_in_common(report, newest)) base = &report;
    }
    used_ = used_ || base;
    return base;
  }

  void refuse_unused() const {
    if (!are_named() || used_) return;
    throw Error("comparing with --base: no shown report has a row in common with it");
  }

 private:
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

/// The newest run before a track's last run that has a row in common with it.
std::optional<std::size_t> night_before(const NightSummaries& nights, const Track& track) {
  std::set<std::uint32_t> rows;
  for (const NightRow& row : nights.all[track.nights.back()].rows) rows.insert(row.row);
  for (std::size_t i = track.nights.size() - 1; i-- > 0;) {
    const std::vector<NightRow>& others = nights.all[track.nights[i]].rows;
    if (std::ranges::any_of(others, [&](const NightRow& row) { return rows.contains(row.row); }))
      return track.nights[i];
  }
  return std::nullopt;
}

void add_track(const KnownRuns& runs, const Track& track, Bases& bases, PageData& data) {
  const RunReport newest = read_journal(runs.journals[track.nights.back()]);
  if (bases.are_named()) return data.add(track, newest, bases.of(newest));
  const std::optional<std::size_t> before = night_before(runs.nights, track);
  if (!before) return data.add(track, newest, nullptr);
  const RunReport base = read_journal(runs.journals[*before]);
  data.add(track, newest, &base);
}

}  // namespace

ExitCode page(const PageOptions& options, const Terminal& terminal) {
  const KnownRuns runs = read_runs(options.reports, terminal.log);
  const std::vector<Track> tracks = tracks_of(runs.nights.all);
  Bases bases(options.base, tracks.size());
  PageData data(runs.nights);
  for (const Track& track : tracks) add_track(runs, track, bases, data);
  bases.refuse_unused();
  const std::vector<PagePart> parts = std::move(data).parts();
  write_text(options.out, terminal.out, [&] { return page_html(parts); });
  return ExitCode::Fine;
}

}  // namespace assay::app
