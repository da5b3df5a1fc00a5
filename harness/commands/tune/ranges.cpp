#include "harness/commands/tune/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

namespace assay::app {
namespace {

using Places = std::vector<std::size_t>;  ///< indices of shapes

constexpr double impossible = std::numeric_limits<double>::infinity();

Ratio ratio_of(const MeasuredShape& shape, std::size_t candidate) {
  if (candidate == 0) return {.median = 1, .interval = {.low = 1, .high = 1}, .pairs = 0};
  const auto found = shape.ratios.find(candidate);
  if (found == shape.ratios.end())
    return {.median = impossible, .interval = {impossible, impossible}, .pairs = 0};
  return found->second;
}

double best_ratio(const MeasuredShape& shape) {
  double best = 1;
  for (const auto& [candidate, ratio] : shape.ratios) best = std::min(best, ratio.median);
  return best;
}

/// The measured shapes and how they are divided.
class Division {
 public:
  Division(std::span<const MeasuredShape> shapes, const RangeLimits& limits)
      : shapes_(shapes), limits_(limits) {
    for (const MeasuredShape& shape : shapes) {
      for (const auto& [candidate, ratio] : shape.ratios) candidates_.insert(candidate);
    }
  }

  void divide(const Places& places, std::vector<ValueRange> box, std::vector<TunedRange>& made) const {
    const std::size_t common = best_common(places).second;
    TunedRange whole = range_of(common, places, box);
    const bool is_good = whole.candidate == common && serves_all(common, places);
    const std::optional<Cut> cut = is_good ? std::nullopt : best_cut(places);
    if (!cut) {
      made.push_back(std::move(whole));
      return;
    }
    Places low, high;
    for (const std::size_t place : places)
      (shapes_[place].at[cut->dim] <= cut->last_low ? low : high).push_back(place);
    std::vector<ValueRange> low_box = box;
    low_box[cut->dim].high = cut->last_low;
    box[cut->dim].low = cut->last_low + 1;
    divide(low, std::move(low_box), made);
    divide(high, std::move(box), made);
  }

 private:
  struct Cut {
    std::size_t dim = 0;
    std::int64_t last_low = 0;  ///< the largest value of the lower side
    double cost = impossible;
  };

  /// The candidate with the least sum of logarithms over these shapes, and that sum.
  std::pair<double, std::size_t> best_common(const Places& places) const {
    std::pair<double, std::size_t> best{0, 0};
    for (const std::size_t candidate : candidates_) {
      double sum = 0;
      for (const std::size_t place : places) sum += std::log(ratio_of(shapes_[place], candidate).median);
      if (sum < best.first) best = {sum, candidate};
    }
    return best;
  }

  bool serves_all(std::size_t candidate, const Places& places) const {
    return std::ranges::all_of(places, [&](std::size_t place) {
      const Ratio ratio = ratio_of(shapes_[place], candidate);
      const double half = (ratio.interval.high - ratio.interval.low) / 2;
      const double most = std::max(limits_.same_pct / 100, std::isfinite(half) ? half / ratio.median : 0);
      return ratio.median <= best_ratio(shapes_[place]) * (1 + most);
    });
  }

  std::optional<Cut> best_cut(const Places& places) const {
    Cut best;
    for (std::size_t dim = 0; dim < shapes_[places.front()].at.size(); ++dim) {
      std::set<std::int64_t> values;
      for (const std::size_t place : places) values.insert(shapes_[place].at[dim]);
      for (auto next = values.begin(); next != values.end();) {
        const std::int64_t below = *next++;
        if (next == values.end()) break;
        const double cost = cost_of(places, dim, below);
        if (cost < best.cost) best = {dim, between(below, *next), cost};
      }
    }
    return best.cost < impossible ? std::optional(best) : std::nullopt;
  }

  double cost_of(const Places& places, std::size_t dim, std::int64_t below) const {
    Places low, high;
    for (const std::size_t place : places) (shapes_[place].at[dim] <= below ? low : high).push_back(place);
    return best_common(low).first + best_common(high).first;
  }

  /// The last value of the lower side of a cut between two shapes.
  static std::int64_t between(std::int64_t low, std::int64_t high) {
    const double mean = std::sqrt(std::max(static_cast<double>(low), 0.0)) *
                        std::sqrt(std::max(static_cast<double>(high), 0.0));
    return std::clamp(static_cast<std::int64_t>(mean), low, high - 1);
  }

  TunedRange range_of(std::size_t candidate, Places places, std::vector<ValueRange> box) const {
    TunedRange made{.box = std::move(box), .candidate = candidate, .shapes = std::move(places)};
    double sum = 0, sum_high = 0;
    bool is_slower_somewhere = false;
    made.ratio_low = impossible;
    made.ratio_high = 0;
    for (const std::size_t place : made.shapes) {
      const Ratio ratio = ratio_of(shapes_[place], candidate);
      sum += std::log(ratio.median);
      sum_high += std::log(ratio.interval.high);
      made.ratio_low = std::min(made.ratio_low, ratio.interval.low);
      made.ratio_high = std::max(made.ratio_high, ratio.interval.high);
      is_slower_somewhere = is_slower_somewhere || ratio.interval.low > 1;
    }
    made.ratio = std::exp(sum / static_cast<double>(made.shapes.size()));
    const bool is_better = made.ratio < 1 - limits_.least_gain_pct / 100 && sum_high < 0;
    if (candidate == 0 || (is_better && !is_slower_somewhere)) return made;
    return {.box = std::move(made.box), .candidate = 0, .shapes = std::move(made.shapes)};
  }

  std::span<const MeasuredShape> shapes_;
  const RangeLimits& limits_;
  std::set<std::size_t> candidates_;
};

/// All shapes, and a little more to all sides.
std::vector<ValueRange> whole_box(std::span<const MeasuredShape> shapes) {
  std::vector<ValueRange> box;
  for (std::size_t dim = 0; dim < shapes.front().at.size(); ++dim) {
    std::int64_t low = shapes.front().at[dim], high = low;
    for (const MeasuredShape& shape : shapes) {
      low = std::min(low, shape.at[dim]);
      high = std::max(high, shape.at[dim]);
    }
    const auto scaled = [](std::int64_t value, double by) {
      return value > 0 ? static_cast<double>(value) * by : static_cast<double>(value);
    };
    box.push_back({static_cast<std::int64_t>(std::ceil(scaled(low, 1 / std::numbers::sqrt2))),
                   static_cast<std::int64_t>(std::floor(scaled(high, std::numbers::sqrt2)))});
  }
  return box;
}

bool is_inside(const std::vector<ValueRange>& box, const std::vector<std::int64_t>& at) {
  return std::ranges::equal(box, at,
                            [](const ValueRange& range, std::int64_t value) { return range.has(value); });
}

}  // namespace

std::vector<TunedRange> tuned_ranges(std::span<const MeasuredShape> shapes, const RangeLimits& limits) {
  std::vector<TunedRange> made;
  if (shapes.empty()) return made;
  Places all(shapes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  Division(shapes, limits).divide(all, whole_box(shapes), made);
  return made;
}

std::vector<double> left_out_pct(std::span<const MeasuredShape> shapes, const RangeLimits& limits) {
  std::vector<double> costs;
  for (std::size_t out = 0; out < shapes.size(); ++out) {
    std::vector<MeasuredShape> others(shapes.begin(), shapes.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
    double given = 1;
    for (const TunedRange& range : tuned_ranges(others, limits)) {
      const double ratio = ratio_of(shapes[out], range.candidate).median;
      if (is_inside(range.box, shapes[out].at) && std::isfinite(ratio)) given = ratio;
    }
    costs.push_back(100 * (given / best_ratio(shapes[out]) - 1));
  }
  return costs;
}

}  // namespace assay::app
