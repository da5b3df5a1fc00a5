#include "harness/report/trend/trend_report.h"

#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t rows_of_a_night = 10;

/// The first night with a new level, and the last one before it that has a time of the row.
using NightPair = std::pair<std::size_t, std::size_t>;

const HistoryRun& run_at(const NightSummaries& nights, const Track& track, std::size_t place) {
  return nights.all[track.nights[place]].run;
}

std::string day_of_run(const HistoryRun& run) {
  return printable(run.date.substr(0, 10));
}

std::string id_text(const RowKey& key) {
  return printable(key.id) + (key.cache == "cold" ? " (cold)" : "");
}

std::string changed(const char* what, const std::string& before, const std::string& now) {
  if (before == now) return fmt::format("{} {} as before", what, printable(now));
  return fmt::format("{} {} -> {}", what, printable(before), printable(now));
}

/// "from 2026-11-21 on (run 7; before that: 2026-11-20): commit a -> b, driver 1.2 as before"
std::string night_text(const NightSummaries& nights, const Track& track, const NightPair& between) {
  const HistoryRun& now = run_at(nights, track, between.first);
  const HistoryRun& before = run_at(nights, track, between.second);
  return fmt::format("from {} on (run {}; before that: {}): {}, {}", day_of_run(now), printable(now.run_id),
                     day_of_run(before), changed("commit", before.commit, now.commit),
                     changed("driver", before.driver, now.driver));
}

std::string changes_table(const NightSummaries& nights, std::vector<const RowChange*> changes,
                          const TrendView& view) {
  const std::size_t shown = view.all ? changes.size() : std::min(changes.size(), rows_of_a_night);
  const std::size_t left_out = changes.size() - shown;
  changes.resize(shown);
  std::vector<std::vector<std::string>> cells{{"ratio", "before us", "now us", "sees from", "id"}};
  for (const RowChange* change : changes) {
    cells.push_back({fixed(change->ratio(), 2) + "x", readable(change->before_us, 4),
                     readable(change->after_us, 4), fixed(100 * change->visible, 1) + " %",
                     id_text(nights.numbers.key_of(change->row))});
  }
  std::string text = text_table(cells, {true, true, true, true, false}, view.width);
  if (left_out > 0) text += fmt::format("and {} more (--all lists them)\n", left_out);
  return text;
}

std::string period_text(const NightSummaries& nights, const TrackChanges& found) {
  const HistoryRun& first = run_at(nights, *found.track, found.period->first);
  const HistoryRun& last = run_at(nights, *found.track, found.period->last);
  const auto slower = std::ranges::count_if(found.changes, [](const RowChange& c) { return c.ratio() > 1; });
  const auto faster = static_cast<std::ptrdiff_t>(found.changes.size()) - slower;
  return fmt::format("{} to {}: {} slower, {} faster\n", day_of_run(first), day_of_run(last),
                     counted_rows(static_cast<std::size_t>(slower)), faster);
}

std::string coverage_text(const TrackChanges& found) {
  const std::size_t nights = found.track->nights.size();
  std::string text = fmt::format("{} {}, {} judged", nights, nights == 1 ? "night" : "nights",
                                 counted_rows(found.rows_with_levels));
  if (found.rows_with_levels > 0) {
    text += fmt::format("; half of them see a change of {} % once it has lasted 3 nights",
                        fixed(100 * found.visible, 1));
  }
  if (found.rows_without > 0) {
    text += fmt::format("; {} with times in fewer than {} nights are not judged",
                        counted_rows(found.rows_without), fewest_nights);
  }
  return text + '\n';
}

void refuse_what_is_no_date(const std::string& date) {
  if (!date.empty() && !days_before(date, 0))
    throw Error(fmt::format("choosing a period: '{}' is no date; write it as 2026-11-26", date));
}

/// Nothing if the newest run's date is none, as in a journal that was edited.
std::optional<std::string> begin_of(const TrendQuestion& question, const HistoryRun& newest) {
  if (!question.since.empty()) return question.since;
  return days_before(question.until.empty() ? newest.date : question.until, question.days);
}

/// Says that a track is not compared with the device's runs of other kinds; empty if there are none.
std::string other_kinds_of_device(const NightSummaries& nights, const HistoryRun& newest) {
  const RunKind kind = kind_of_run(newest);
  std::set<RunKind> others;
  for (const NightSummary& night : nights.all) {
    if (night.run.device_key == newest.device_key) others.insert(kind_of_run(night.run));
  }
  others.erase(kind);
  std::string text;
  for (const RunKind& other : others) text += (text.empty() ? "" : " or ") + kind_text(other);
  if (text.empty()) return "";
  return fmt::format("not compared with the device's runs of other kinds: these are {}, others {}",
                     kind_text(kind), text);
}

}  // namespace

std::vector<std::string> left_out_of_trend(const NightSummaries& nights, const TrackChanges& found) {
  const HistoryRun& newest = run_at(nights, *found.track, found.track->nights.size() - 1);
  std::vector<std::string> sentences;
  if (std::string kinds = other_kinds_of_device(nights, newest); !kinds.empty())
    sentences.push_back(std::move(kinds));
  for (const std::string& line : machine_shift_lines(nights, *found.track, found.machine))
    sentences.push_back("the machine, taken out of the times: " + line);
  if (found.retuned > 0) {
    sentences.push_back(
        fmt::format("{} not compared with times from before: their tunables were others",
                    found.retuned == 1 ? "1 row is" : fmt::format("{} rows are", found.retuned)));
  }
  return sentences;
}

TrackChanges changes_of(const NightSummaries& nights, const Track& track, const TrackTrends& trends,
                        const TrendQuestion& question) {
  refuse_what_is_no_date(question.since);
  refuse_what_is_no_date(question.until);
  if (!question.until.empty() && question.until < question.since)
    throw Error(fmt::format("choosing a period: {} is before {}", question.until, question.since));
  TrackChanges found{.track = &track,
                     .rows_with_levels = trends.rows.size(),
                     .retuned = trends.retuned,
                     .machine = trends.machine};
  std::set<std::uint32_t> judged;
  std::vector<double> visible;
  for (const RowTrend& trend : trends.rows) {
    judged.insert(trend.row);
    visible.push_back(trend.times.visible());
  }
  for (const NightRow& row : nights.all[track.nights.back()].rows)
    found.rows_without += has_level_time(row) && !judged.contains(row.row) ? 1 : 0;
  if (!visible.empty()) found.visible = median(std::move(visible));
  if (const auto since = begin_of(question, nights.all[track.nights.back()].run))
    found.period = period_of(nights, track, *since, question.until);
  if (found.period) found.changes = changes_in(trends.rows, *found.period);
  return found;
}

std::string trend_text(const NightSummaries& nights, const TrackChanges& found, const TrendView& view) {
  const HistoryRun& newest = run_at(nights, *found.track, found.track->nights.size() - 1);
  std::string text = wrapped_words(printable(newest.device) + kind_addition(kind_of_run(newest)), view.width);
  text += coverage_text(found);
  for (const std::string& sentence : left_out_of_trend(nights, found))
    text += wrapped_words(sentence, view.width);
  if (!found.period) return text + "no night in that period\n";
  text += period_text(nights, found);
  std::map<NightPair, std::vector<const RowChange*>, std::greater<>> by_night;
  for (const RowChange& change : found.changes) by_night[{change.place, change.previous}].push_back(&change);
  for (const auto& [between, changes] : by_night) {
    text += '\n' + wrapped_words(night_text(nights, *found.track, between), view.width);
    text += changes_table(nights, changes, view);
  }
  return text;
}

std::string trend_csv(const NightSummaries& nights, const std::vector<TrackChanges>& found) {
  std::string text = csv_row({"device", "id", "mode", "cache", "before_us", "after_us", "ratio",
                              "visible_pct", "since_run", "since_utc", "commit_before", "commit_since",
                              "driver_before", "driver_since", "machine_before", "machine_since"});
  for (const TrackChanges& one : found) {
    for (const RowChange& change : one.changes) {
      const RowKey& key = nights.numbers.key_of(change.row);
      const HistoryRun& since = run_at(nights, *one.track, change.place);
      const HistoryRun& before = run_at(nights, *one.track, change.previous);
      text += csv_row({since.device, key.id, key.mode, key.cache, shortest(change.before_us),
                       shortest(change.after_us), fixed(change.ratio(), 4), fixed(100 * change.visible, 2),
                       since.run_id, since.date, before.commit, since.commit, before.driver, since.driver,
                       fixed(one.machine.at(change.previous).ratio, 4),
                       fixed(one.machine.at(change.place).ratio, 4)});
    }
  }
  return text;
}

}  // namespace assay
