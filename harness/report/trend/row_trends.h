#pragma once

#include "harness/report/trend/change_points.h"
#include "harness/report/trend/machine_levels.h"
#include "harness/report/trend/nights.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The levels of one row's times over the nights of its track, on a machine that is as in most nights.
struct RowTrend {
  std::uint32_t row = 0;            ///< number of its key, see RowNumbers
  std::vector<std::size_t> places;  ///< in Track::nights: those nights that have a time of it
  TimeLevels times;                 ///< one level per place

  /// The level at a night of the track, or at the last one before it that has a time.
  std::optional<double> level_at(std::size_t place) const;
};

/// Whether a row passed with a time that counts.
bool has_level_time(const NightRow& row);

/// Earlier nights of a track than the newest of this number have no part in its trends: finding levels takes
/// time with the cube of it.
inline constexpr std::size_t most_nights = 90;

/// What is known about the rows of a track over its nights.
struct TrackTrends {
  std::vector<RowTrend> rows;         ///< that have times in enough nights, in the order of the newest night
  std::vector<MachineLevel> machine;  ///< of each night; times are divided by its ratio
  std::size_t retuned = 0;  ///< rows with times in nights with another `tune`, which are not compared
};
TrackTrends trends_of(const NightSummaries& nights, const Track& track);

/// A period of a track: its nights from `first` to `last`, as places in Track::nights.
struct Period {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The nights from the last one on or before `since` to the last one on or before the end of the day `until`
/// (ISO 8601; dates alone are days; empty: the newest). Nothing if `until` is before all nights. If `since`
/// is before all nights, the period begins with the oldest.
std::optional<Period> period_of(const NightSummaries& nights, const Track& track, std::string_view since,
                                std::string_view until = {});

/// The date that is a number of days before another one; both "2026-11-26" (times of day are ignored).
/// Nothing if `date` is none.
std::optional<std::string> days_before(std::string_view date, int days);

/// A row whose level at the end of a period is not the one at its begin.
struct RowChange {
  std::uint32_t row = 0;
  double before_us = 0, after_us = 0;
  /// In Track::nights: the first night with a new level; of several, that of the largest step.
  std::size_t place = 0;
  std::size_t previous = 0;  ///< the last night before that with a time of the row
  double visible = 0;        ///< TimeLevels::visible()

  double ratio() const { return after_us / before_us; }
};

/// The rows that changed within a period, the largest change first.
std::vector<RowChange> changes_in(std::span<const RowTrend> trends, Period period);

}  // namespace assay
