#include "harness/commands/read/trend.h"

#include "harness/commands/read/known_runs.h"
#include "harness/commands/read/report.h"

#include <ostream>

namespace assay::app {

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
