#include "harness/report/trend/machine_levels.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/compare/machine_shift.h"
#include "harness/report/record/rough_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay {
namespace {

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

}  // namespace

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

}  // namespace assay
