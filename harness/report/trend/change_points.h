#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

}  // namespace assay
