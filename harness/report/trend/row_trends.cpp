#include "harness/report/trend/row_trends.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/compare/machine_shift.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

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

/// A night is compared with as many nights before it, so that one odd night among them does not matter.
constexpr std::size_t nights_before = 7;

/// A time that shows the machine if its program ran in another night too.
struct KnownTime {
  std::uint32_t row = 0;
  std::uint64_t program = 0;
  double log_us = 0;
};

/// Those of one night, ordered by row.
std::vector<KnownTime> known_times(const NightSummary& night) {
  std::vector<KnownTime> times;
  for (const NightRow& row : night.rows) {
    const bool is_sure = row.status == Status::Pass && std::isfinite(row.time_us) && row.time_us > 0 &&
                         static_cast<double>(row.ci_pct) <= coarsest_pct;
    if (is_sure && row.program != 0)
      times.push_back({row.row, row.program, std::log(static_cast<double>(row.time_us))});
  }
  std::ranges::sort(times, {}, &KnownTime::row);
  return times;
}

/// Logarithms of new time / base time of the rows that ran the same program.
std::vector<double> ratios_of(const std::vector<KnownTime>& base, const std::vector<KnownTime>& next) {
  std::vector<double> logs;
  auto before = base.begin();
  for (const KnownTime& now : next) {
    while (before != base.end() && before->row < now.row) ++before;
    if (before != base.end() && before->row == now.row && before->program == now.program)
      logs.push_back(now.log_us - before->log_us);
  }
  std::ranges::sort(logs);
  return logs;
}

class LevelSearch {
 public:
  LevelSearch(const NightSummaries& nights, const Track& track) : nights_(nights), track_(track) {
    for (const std::size_t night : track.nights) times_.push_back(known_times(nights.all[night]));
  }

  std::vector<MachineLevel> levels() && {
    for (std::size_t place = 0; place < track_.nights.size(); ++place) add(place);
    const double usual = most_frequent(logs_);
    for (std::size_t place = 0; place < logs_.size(); ++place)
      levels_[place].ratio = std::exp(logs_[place] - usual);
    return std::move(levels_);
  }

 private:
  const std::string& driver(std::size_t place) const { return nights_.all[track_.nights[place]].run.driver; }

  /// The level of a night: where the nights before it say that it is.
  void add(std::size_t place) {
    MachineLevel& level = levels_.emplace_back();
    std::vector<double> levels;
    std::optional<std::size_t> nearest;
    bool is_clear = false;
    for (std::size_t before = place; before-- > 0 && levels.size() < nights_before;) {
      if (driver(before) != driver(place)) continue;
      const std::vector<double> logs = ratios_of(times_[before], times_[place]);
      if (logs.size() < fewest_unchanged_rows) continue;
      levels.push_back(logs_[before] + median(logs));
      if (nearest) continue;
      nearest = before;
      level.rows = logs.size();
      const MedianInterval interval = median_interval(logs);
      is_clear = interval.low > 0 || interval.high < 0;
    }
    if (!nearest) return logs_.push_back(place == 0 ? 0 : logs_.back());
    const double found = median(std::move(levels));
    const bool has_moved = is_clear && !is_near(found, logs_[*nearest]);
    logs_.push_back(has_moved ? known_level(found) : logs_[*nearest]);
  }

  static bool is_near(double one, double other) {
    return std::abs(one - other) <= std::log1p(least_shift_pct / 100);
  }

  /// A machine that is as it was in an earlier night has that night's level, so that nights do not differ by
  /// the noise of the estimate.
  double known_level(double found) const {
    const auto distance = [&](double level) { return std::abs(level - found); };
    const auto nearest = std::ranges::min_element(logs_, {}, distance);
    return is_near(*nearest, found) ? *nearest : found;
  }

  static double most_frequent(const std::vector<double>& logs) {
    const auto count = [&](double level) { return std::ranges::count(logs, level); };
    return *std::ranges::max_element(logs, {}, count);
  }

  const NightSummaries& nights_;
  const Track& track_;
  std::vector<std::vector<KnownTime>> times_;
  std::vector<double> logs_;  ///< logarithm of the level of each night so far
  std::vector<MachineLevel> levels_;
};

std::string day_at(const NightSummaries& nights, const Track& track, std::size_t place) {
  return printable(nights.all[track.nights[place]].run.date.substr(0, 10));
}

/// One row's times, with the places of their nights.
struct RowTimes {
  std::vector<std::size_t> places;
  std::vector<double> times_us;
  std::uint32_t tune = 0;   ///< NightRow::tune in the newest night
  bool is_retuned = false;  ///< it has times with another one

  void add(const NightRow& row, std::size_t place, double machine_ratio) {
    if (row.tune != 0 && tune != 0 && row.tune != tune) {
      is_retuned = true;
      return;
    }
    places.push_back(place);
    times_us.push_back(static_cast<double>(row.time_us) / machine_ratio);
  }
};

/// A number of `digits` digits at a place of a text; -1 if there is none.
int number_at(std::string_view text, std::size_t place, std::size_t digits) {
  if (text.size() < place + digits) return -1;
  int number = -1;
  const std::string_view part = text.substr(place, digits);
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  return error == std::errc() && end == part.data() + part.size() ? number : -1;
}

std::optional<std::chrono::year_month_day> day_of(std::string_view date) {
  const bool has_form = date.size() >= 10 && date[4] == '-' && date[7] == '-';
  const std::chrono::year_month_day day{
      std::chrono::year(number_at(date, 0, 4)),
      std::chrono::month(static_cast<unsigned>(std::max(0, number_at(date, 5, 2)))),
      std::chrono::day(static_cast<unsigned>(std::max(0, number_at(date, 8, 2))))};
  return has_form && day.ok() && number_at(date, 0, 4) >= 0 ? std::optional(day) : std::nullopt;
}

/// Whether a run began before a point of time, or on that day if it is a date.
bool began_until(const std::string& began, std::string_view time) {
  return std::string_view(began).substr(0, time.size()) <= time;
}

/// Whether a run began at a point of time or later, or on that day if it is a date.
bool reaches(const std::string& began, std::string_view time) {
  return std::string_view(began).substr(0, time.size()) >= time;
}

/// The first place of a new level in a period, of the change with the largest step; nothing: there is none.
const ChangePoint* largest_change(const RowTrend& trend, Period period) {
  const ChangePoint* largest = nullptr;
  for (const ChangePoint& change : trend.times.changes) {
    const std::size_t place = trend.places[change.first];
    if (place <= period.first || place > period.last) continue;
    if (!largest || std::abs(std::log(change.ratio)) > std::abs(std::log(largest->ratio))) largest = &change;
  }
  return largest;
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

std::vector<MachineLevel> machine_levels(const NightSummaries& nights, const Track& track) {
  if (track.nights.empty()) return {};
  return LevelSearch(nights, track).levels();
}

std::vector<std::string> machine_shift_lines(const NightSummaries& nights, const Track& track,
                                             const std::vector<MachineLevel>& levels) {
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < levels.size();) {
    std::size_t last = first;
    while (last + 1 < levels.size() && levels[last + 1].ratio == levels[first].ratio) ++last;
    if (levels[first].ratio != 1) {
      const std::string begin = day_at(nights, track, first), end = day_at(nights, track, last);
      lines.push_back(fmt::format("{}{}: {} ({} unchanged rows)", begin, begin == end ? "" : " to " + end,
                                  times_slower(levels[first].ratio), levels[first].rows));
    }
    first = last + 1;
  }
  return lines;
}

std::optional<double> RowTrend::level_at(std::size_t place) const {
  const auto after = std::ranges::upper_bound(places, place);
  if (after == places.begin()) return std::nullopt;
  return times.levels[static_cast<std::size_t>(after - places.begin()) - 1];
}

bool has_level_time(const NightRow& row) {
  return row.status == Status::Pass && row.time_us > 0 && std::isfinite(row.time_us);
}

TrackTrends trends_of(const NightSummaries& nights, const Track& track) {
  TrackTrends trends{.machine = machine_levels(nights, track)};
  const std::vector<NightRow>& newest = nights.all[track.nights.back()].rows;
  std::unordered_map<std::uint32_t, RowTimes> times;
  for (const NightRow& row : newest) times[row.row].tune = row.tune;
  const std::size_t first = track.nights.size() - std::min(track.nights.size(), most_nights);
  for (std::size_t place = first; place < track.nights.size(); ++place) {
    for (const NightRow& row : nights.all[track.nights[place]].rows) {
      const auto of = times.find(row.row);
      if (of == times.end() || !has_level_time(row)) continue;
      of->second.add(row, place, trends.machine[place].ratio);
    }
  }
  for (const NightRow& row : newest) {
    const auto known = times.find(row.row);
    if (known == times.end()) continue;
    trends.retuned += known->second.is_retuned ? 1 : 0;
    if (auto levels = time_levels(known->second.times_us))
      trends.rows.push_back({row.row, std::move(known->second.places), *std::move(levels)});
    times.erase(known);
  }
  return trends;
}

std::optional<Period> period_of(const NightSummaries& nights, const Track& track, std::string_view since,
                                std::string_view until) {
  std::optional<Period> period;
  for (std::size_t place = 0; place < track.nights.size(); ++place) {
    const std::string& began = nights.all[track.nights[place]].run.date;
    if (!until.empty() && !began_until(began, until)) break;
    if (!period) period.emplace();
    if (began_until(began, since)) period->first = place;
    period->last = place;
  }
  if (period && !reaches(nights.all[track.nights[period->last]].run.date, since)) return std::nullopt;
  return period;
}

std::optional<std::string> days_before(std::string_view date, int days) {
  const auto from = day_of(date);
  if (!from) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::sys_days(*from) - std::chrono::days(days));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::vector<RowChange> changes_in(std::span<const RowTrend> trends, Period period) {
  std::vector<RowChange> changes;
  for (const RowTrend& trend : trends) {
    const ChangePoint* largest = largest_change(trend, period);
    if (!largest) continue;
    const std::size_t place = trend.places[largest->first];
    // A row that is younger than the period is compared with its first level.
    const double before = trend.level_at(period.first).value_or(trend.times.levels.front());
    const double after = trend.level_at(period.last).value_or(before);
    // Levels are medians: one that came back to where it was differs by noise.
    if (std::abs(std::log(after / before)) <= 2 * trend.times.deviation) continue;
    changes.push_back({.row = trend.row,
                       .before_us = before,
                       .after_us = after,
                       .place = place,
                       .previous = trend.places[largest->first - 1],
                       .visible = trend.times.visible()});
  }
  std::ranges::stable_sort(changes, std::greater{},
                           [](const RowChange& change) { return std::abs(std::log(change.ratio())); });
  return changes;
}

}  // namespace assay
