#include "harness/commands/read/page.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/html/page_data.h"
#include "harness/report/journal/find_rows.h"
#include "harness/report/record/device_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
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

/// Notes what is left out of a page, as one lost night must not prevent a farm's page.
class LeftOut {
 public:
  explicit LeftOut(std::ostream& log) : log_(log) {}

  /// The Error has the exit code of the first error; Usage: there was none.
  [[noreturn]] void throw_none_readable() const {
    throw Error("writing a page: none of the reports can be read",
                code_ == ExitCode::Fine ? ExitCode::Usage : code_);
  }
  void warn(const std::string& what) { log_ << printable_line("warning: " + what) << '\n'; }

  /// The result of `body`; if it throws, a warning that `what` is left out.
  template <class Body>
  auto or_left_out(const fs::path& what, Body body) -> std::optional<decltype(body())> {
    try {
      return body();
    } catch (const Error& error) {
      warn(fmt::format("{} is left out: {}", what.string(), error.what()));
      if (code_ == ExitCode::Fine) code_ = error.code();
      return std::nullopt;
    }
  }

 private:
  std::ostream& log_;
  ExitCode code_ = ExitCode::Fine;
};

/// All journals without duplicates: links of an output folder point to runs that are also below it.
PagePaths different_journals(const PagePaths& paths, LeftOut& left_out) {
  std::set<fs::path> seen;
  PagePaths journals;
  for (const fs::path& path : paths) {
    const auto found = left_out.or_left_out(path, [&] { return journals_of_all_runs(path); });
    for (const fs::path& journal : found.value_or(PagePaths{})) {
      std::error_code error;
      const fs::path place = fs::canonical(journal, error);
      if (seen.insert(error ? journal : place).second) journals.push_back(journal);
    }
  }
  return journals;
}

/// As for a run with the largest number of rows; that takes this much memory.
constexpr std::uintmax_t most_summary_bytes = std::uintmax_t{1} << 30;

/// Throws Error.
std::string text_of_summary(const fs::path& summary) {
  std::optional<std::string> text = whole_regular_file(summary, most_summary_bytes);
  if (!text) throw Error("it is not a regular file, has more than 1 GiB or cannot be read");
  return *std::move(text);
}

/// Reads a night from the summary that the run wrote; if that is missing or damaged, from its journal.
NightSummary night_of(const fs::path& journal, RowNumbers& numbers, LeftOut& left_out) {
  const fs::path summary = journal.parent_path() / history_name;
  if (fs::exists(summary)) {
    try {
      return read_night(numbers, [&](const HistoryAction& action) {
        return read_history(text_of_summary(summary), action);
      });
    } catch (const Error& error) {
      left_out.warn(fmt::format("{}: {}; the journal is read instead", summary.string(), error.what()));
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

KnownRuns read_runs(const PagePaths& paths, LeftOut& left_out) {
  KnownRuns runs;
  for (const fs::path& journal : different_journals(paths, left_out)) {
    auto night =
        left_out.or_left_out(journal, [&] { return night_of(journal, runs.nights.numbers, left_out); });
    if (!night) continue;
    runs.nights.all.push_back(std::move(*night));
    runs.journals.push_back(journal);
  }
  if (runs.journals.empty()) left_out.throw_none_readable();
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

/// The newest report before a track's last run that has a row in common with it and that can be read.
std::optional<RunReport> report_before(const KnownRuns& runs, const Track& track, LeftOut& left_out) {
  std::set<std::uint32_t> rows;
  for (const NightRow& row : runs.nights.all[track.nights.back()].rows) rows.insert(row.row);
  const auto is_common = [&](const NightRow& row) { return rows.contains(row.row); };
  for (std::size_t i = track.nights.size() - 1; i-- > 0;) {
    if (std::ranges::none_of(runs.nights.all[track.nights[i]].rows, is_common)) continue;
    const fs::path& journal = runs.journals[track.nights[i]];
    try {
      return read_journal(journal);
    } catch (const Error& error) {
      left_out.warn(
          fmt::format("the newest run is not compared with {}: {}", journal.string(), error.what()));
    }
  }
  return std::nullopt;
}

/// Adds a track. False: its newest run cannot be read.
bool add_track(const KnownRuns& runs, const Track& track, Bases& bases, PageData& data, LeftOut& left_out) {
  const fs::path& journal = runs.journals[track.nights.back()];
  const auto newest = left_out.or_left_out(journal, [&] { return read_journal(journal); });
  if (!newest) return false;
  if (bases.are_named()) {
    data.add(track, *newest, bases.of(*newest));
    return true;
  }
  const std::optional<RunReport> base = report_before(runs, track, left_out);
  data.add(track, *newest, base ? &*base : nullptr);
  return true;
}

/// The data of a page. Nothing if a newest run cannot be read: it is then no longer among `runs`, which may
/// have other tracks without it.
std::optional<std::vector<PagePart>> parts_of(KnownRuns& runs, const PagePaths& base_paths,
                                              LeftOut& left_out) {
  const std::vector<Track> tracks = tracks_of(runs.nights.all);
  Bases bases(base_paths, tracks.size());
  PageData data(runs.nights);
  for (const Track& track : tracks) {
    if (add_track(runs, track, bases, data, left_out)) continue;
    const auto unreadable = static_cast<std::ptrdiff_t>(track.nights.back());
    runs.nights.all.erase(runs.nights.all.begin() + unreadable);
    runs.journals.erase(runs.journals.begin() + unreadable);
    return std::nullopt;
  }
  bases.refuse_unused();
  return std::move(data).parts();
}

}  // namespace

ExitCode page(const PageOptions& options, const Terminal& terminal) {
  LeftOut left_out(terminal.log);
  KnownRuns runs = read_runs(options.reports, left_out);
  std::optional<std::vector<PagePart>> parts;
  while (!parts && !runs.journals.empty()) parts = parts_of(runs, options.base, left_out);
  if (!parts) left_out.throw_none_readable();
  write_text(options.out, terminal.out, [&] { return page_html(*parts); });
  return ExitCode::Fine;
}

}  // namespace assay::app
