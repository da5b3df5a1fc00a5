#pragma once

#include "harness/report/trend/row_trends.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// What changed on one track of nights within a period.
struct TrackChanges {
  const Track* track = nullptr;
  std::size_t rows_with_levels = 0;
  std::size_t rows_without = 0;  ///< rows of the newest night with too few times
  std::size_t retuned = 0;       ///< TrackTrends::retuned
  std::vector<MachineLevel> machine;
  double visible = 0;              ///< median over the rows of TimeLevels::visible()
  std::optional<Period> period;    ///< nothing: no night is in it
  std::vector<RowChange> changes;  ///< the largest first
};

/// The question for changes.
struct TrendQuestion {
  std::string since;  ///< a date or a time (ISO 8601); empty: `days` before the newest night
  std::string until;  ///< likewise; empty: the newest night
  int days = 7;
};

/// `trends`: trends_of() the track. Throws Error if a date of the question is none.
TrackChanges changes_of(const NightSummaries& nights, const Track& track, const TrackTrends& trends,
                        const TrendQuestion& question);

/// What was taken out of a track's times, or is not compared, and why, as sentences: shifts of the machine,
/// runs of other kinds (RunKind), rows with other tunables.
std::vector<std::string> left_out_of_trend(const NightSummaries& nights, const TrackChanges& found);

struct TrendView {
  std::size_t width = 100;
  bool all = false;  ///< also the changes beyond the ten largest of a night
};

/// The changes of a track for a terminal, grouped by the night from which on they are seen, the newest first.
std::string trend_text(const NightSummaries& nights, const TrackChanges& found, const TrendView& view);

/// The changes of all tracks as CSV (RFC 4180) with a header; reports/README.md names the columns.
std::string trend_csv(const NightSummaries& nights, const std::vector<TrackChanges>& found);

}  // namespace assay
