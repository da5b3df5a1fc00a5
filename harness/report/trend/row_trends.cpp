#include "harness/report/trend/row_trends.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace assay {
namespace {

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
