#include "harness/report/trend/change_points.h"

#include "harness/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace assay {
namespace {

/// In deviations: a value that is further from a level costs as much as one at this distance.
constexpr double outlier = 4;

/// The cost of one more level, in squared deviations: three nights at 4 deviations lower the costs by
/// about 40.
constexpr double level_cost = 20;

/// In deviations: a difference of neighbours that is larger is a change or an outlier, no noise.
constexpr double largest_step = 3 * std::numbers::sqrt2;
/// The share of a normal distribution's variance within 3 deviations.
constexpr double variance_within = 0.973;

/// Costs of segments, for one first value and more and more values after it.
class GrowingSegment {
 public:
  void add(double value) { sorted_.insert(std::ranges::upper_bound(sorted_, value), value); }

  /// The least sum of biweight losses over all levels. At the best level, the values within reach of it are
  /// neighbours in order of size, and it is their mean: each such range is tried.
  double cost() const {
    std::vector<double> sums{0}, squares{0};
    for (const double value : sorted_) {
      sums.push_back(sums.back() + value);
      squares.push_back(squares.back() + value * value);
    }
    double best = std::numeric_limits<double>::infinity();
    const auto try_range = [&](std::size_t first, std::size_t end) {
      const auto count = static_cast<double>(end - first);
      const double sum = sums[end] - sums[first];
      const double spread = std::max(0.0, squares[end] - squares[first] - sum * sum / count);
      best = std::min(best, spread + outlier * outlier * (static_cast<double>(sorted_.size()) - count));
    };
    std::size_t end = 0;
    for (std::size_t first = 0; first < sorted_.size(); ++first) {
      // Ranges that begin here and cannot begin earlier end at one of the values that come into reach.
      const std::size_t reached = end;
      while (end < sorted_.size() && sorted_[end] - sorted_[first] <= 2 * outlier) ++end;
      for (std::size_t last = std::max(reached, first + 1); last <= end; ++last) try_range(first, last);
    }
    return best;
  }

 private:
  std::vector<double> sorted_;
};

/// The first values of all levels but the first one, for values in units of their deviation.
std::vector<std::size_t> starts_of_levels(const std::vector<double>& values) {
  const std::size_t count = values.size();
  std::vector<double> least(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(count + 1, 0);
  least[0] = -level_cost;
  for (std::size_t first = 0; first + shortest_level <= count; ++first) {
    if (!std::isfinite(least[first])) continue;
    GrowingSegment segment;
    for (std::size_t end = first + 1; end <= count; ++end) {
      segment.add(values[end - 1]);
      if (end - first < shortest_level) continue;
      const double cost = least[first] + level_cost + segment.cost();
      if (cost < least[end]) least[end] = cost, from[end] = first;
    }
  }
  std::vector<std::size_t> starts;
  for (std::size_t end = from[count]; end > 0; end = from[end]) starts.push_back(end);
  std::ranges::reverse(starts);
  return starts;
}

/// The robust deviation of logarithms from one night to the next: a rough one says which differences of
/// neighbours are noise, and their squares give a sharper one.
double deviation_of(const std::vector<double>& logs) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < logs.size(); ++i) steps.push_back(std::abs(logs[i] - logs[i - 1]));
  const double rough = std::max(least_deviation, 1.4826 / std::numbers::sqrt2 * median(steps));
  std::erase_if(steps, [&](double step) { return step > largest_step * rough; });
  if (steps.empty()) return rough;
  double squares = 0;
  for (const double step : steps) squares += step * step;
  const auto count = static_cast<double>(steps.size());
  const double few = 1 + 2 / count;
  return std::max(least_deviation, few * std::sqrt(squares / (2 * variance_within * count)));
}

}  // namespace

std::optional<TimeLevels> time_levels(std::span<const double> values) {
  if (values.size() < fewest_nights) return std::nullopt;
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  TimeLevels found{.deviation = deviation_of(logs)};
  std::vector<double> scaled;
  for (const double log : logs) scaled.push_back((log - logs.front()) / found.deviation);
  std::vector<std::size_t> starts = starts_of_levels(scaled);
  starts.insert(starts.begin(), 0);
  starts.push_back(values.size());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const auto level = values.subspan(starts[i], starts[i + 1] - starts[i]);
    const double middle = median({level.begin(), level.end()});
    if (i > 0) found.changes.push_back({starts[i], middle / found.levels.back()});
    found.levels.insert(found.levels.end(), level.size(), middle);
  }
  return found;
}

}  // namespace assay
