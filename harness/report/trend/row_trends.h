#pragma once

#include "harness/report/trend/nights.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A night from which on a row's time has another level.
struct ChangePoint {
  std::size_t first = 0;  ///< index of the first value of the new level
  double ratio = 1;       ///< new level divided by the old one: 1.1 is 10 % slower
};

/// The levels of a row's times, from a night to a night.
struct TimeLevels {
  std::vector<ChangePoint> changes;  ///< ordered by place
  std::vector<double> levels;        ///< the level at each value, in the unit of the values
  /// Deviation of the values from one night to the next, relative to the level: robust, at least
  /// `least_deviation`.
  double deviation = 0;

  /// The smallest change that is found with near certainty once it has lasted for three nights, relative to
  /// the level.
  double visible() const { return 4 * deviation; }
};

/// Smaller deviations count as this one, so that changes of less than 3 % need not be found.
inline constexpr double least_deviation = 0.0075;

/// A level lasts for at least as many values. Fewer are outliers.
inline constexpr std::size_t shortest_level = 3;

/// Fewer values have no levels.
inline constexpr std::size_t fewest_nights = 2 * shortest_level;

/// Finds the levels of positive values, one per night. Absent if there are fewer than `fewest_nights`.
///
/// Method: optimal partitioning of the values' logarithms (Jackson et al. 2005, the search that PELT prunes)
/// with the biweight loss of Fearnhead and Rigaill 2019: what is further than `outlier` deviations from a
/// level counts as that far, so that a few slow nights are no new level. The deviation is the root mean
/// square difference of neighbours without steps and outliers, widened where there are few. docs/compare.md
/// has the rates of what is found and of false alarms, which a test measures.
std::optional<TimeLevels> time_levels(std::span<const double> values);

/// A shift of the machine is taken out if it is larger than this, as of two runs whose noise is unknown.
inline constexpr double least_shift_pct = 3;

/// How fast the machine itself was in one night of a track.
struct MachineLevel {
  double ratio = 1;  ///< time of unchanged rows / their time in most nights; 1: as usual, or unknown
  std::size_t rows =
      0;  ///< unchanged rows since the nearest night before that has enough of them; 0: none has
};

/// The machine's level in each night of a track, by the rows that ran the same program with the same driver
/// in two nights, as `assay compare` estimates it: at least five such rows, whose median moved clearly and by
/// more than least_shift_pct. Nights without such rows have the level of the night before.
std::vector<MachineLevel> machine_levels(const NightSummaries& nights, const Track& track);

/// The nights in which the machine was not as usual: "2026-11-21 to 2026-11-23: 2.00x slower (812 unchanged
/// rows)".
std::vector<std::string> machine_shift_lines(const NightSummaries& nights, const Track& track,
                                             const std::vector<MachineLevel>& levels);

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
/// (ISO 8601; dates alone are days; empty: the newest). Nothing if none of these is as late as `since`. If
/// `since` is before all nights, the period begins with the oldest.
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
