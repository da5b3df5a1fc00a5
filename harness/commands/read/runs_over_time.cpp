#include "harness/commands/read/runs_over_time.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/journal/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ostream>
#include <set>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

/// The folders OUT/runs/*, in the order of their names.
Paths run_folders(const fs::path& out) {
  Paths folders;
  std::error_code error;
  for (fs::directory_iterator run(out / "runs", error), end; !error && run != end; run.increment(error))
    folders.push_back(run->path());
  std::ranges::sort(folders);
  return folders;
}

/// Whether a folder is that of a night, which has one report of each device: each time it is concluded, all
/// its shards are merged anew, and the reports of earlier conclusions hold nothing else.
bool is_night(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "shards", error);
}

/// The journals that a path stands for, and those of all runs in it if it is an output folder.
Paths journals_of_all_runs(const fs::path& path) {
  Paths journals = journals_of(path);
  if (is_night(path)) return journals;
  for (const fs::path& run : run_folders(path)) {
    try {
      std::ranges::copy(find_journals(run), std::back_inserter(journals));
    } catch (const Error&) {  // the run was killed before it began to write
      continue;
    }
  }
  return journals;
}

/// The journals of all nights in a farm's folder, in the order of their names. Links to nights are left out,
/// and folders that hold no run: what is in a farm's folder besides, and nights whose runs all failed to
/// start.
Paths journals_of_nights(const fs::path& farm) {
  Paths folders;
  std::error_code error;
  for (fs::directory_iterator at(farm, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_symlink(ignored) && at->is_directory(ignored)) folders.push_back(at->path());
  }
  std::ranges::sort(folders);
  Paths journals;
  for (const fs::path& folder : folders) {
    try {
      std::ranges::copy(journals_of_all_runs(folder), std::back_inserter(journals));
    } catch (const Error&) {
      continue;
    }
  }
  return journals;
}

/// The journals of a path or, if that has none, of all nights in it.
Paths journals_of_path(const fs::path& path) try { return journals_of_all_runs(path); } catch (const Error&) {
  Paths journals = journals_of_nights(path);
  if (journals.empty()) throw;
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
  const RunReport report = read_checked_journal(journal);
  return read_night(numbers, [&](const HistoryAction& action) { return read_history(report, action); });
}

}  // namespace

std::vector<fs::path> all_journals(const std::vector<fs::path>& paths, LeftOut& left_out) {
  std::set<fs::path> seen;  // links of an output folder point to runs that are also below it
  Paths journals;
  for (const fs::path& path : paths) {
    const auto found = left_out.or_left_out(path, [&] { return journals_of_path(path); });
    const std::size_t before = journals.size();
    for (const fs::path& journal : found.value_or(Paths{})) {
      std::error_code error;
      const fs::path place = fs::canonical(journal, error);
      if (seen.insert(error ? journal : place).second) journals.push_back(journal);
    }
    if (found && journals.size() == before)
      left_out.warn(fmt::format("{} is left out: all of its runs were named before", path.string()));
  }
  return journals;
}

KnownRuns read_runs(const std::vector<fs::path>& paths, LeftOut& left_out) {
  KnownRuns runs;
  for (const fs::path& journal : all_journals(paths, left_out)) {
    auto night =
        left_out.or_left_out(journal, [&] { return night_of(journal, runs.nights.numbers, left_out); });
    if (!night) continue;
    runs.nights.all.push_back(std::move(*night));
    runs.journals.push_back(journal);
  }
  if (runs.journals.empty()) left_out.throw_none_readable();
  return runs;
}

ExitCode trend(const TrendOptions& options, const Terminal& terminal) {
  LeftOut left_out(terminal.log, "finding what changed over nights");
  const KnownRuns runs = read_runs(options.reports, left_out);
  const std::vector<Track> tracks = tracks_of(runs.nights.all);
  std::vector<TrackChanges> found;
  for (const Track& track : tracks) {
    found.push_back(changes_of(runs.nights, track, trends_of(runs.nights, track), options.question));
  }
  write_text(options.csv, terminal.out, [&] { return trend_csv(runs.nights, found); });
  if (!options.csv.empty()) return ExitCode::Fine;
  const TrendView view{.width = terminal.console.width, .all = options.all};
  for (const TrackChanges& one : found)
    terminal.out << (&one == &found.front() ? "" : "\n") << trend_text(runs.nights, one, view);
  return ExitCode::Fine;
}

}  // namespace assay::app
