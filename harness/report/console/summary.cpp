#include "harness/report/console/summary.h"

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string counted(std::size_t count) {
  std::string text = std::to_string(count);
  return std::string(text.size() < 6 ? 6 - text.size() : 0, ' ') + text;
}

constexpr std::size_t status_width = 15;  // UNEXPECTED_PASS

// Reasons with their counts, the most frequent first.
std::vector<std::pair<std::string, std::size_t>> reasons_of(const std::vector<const Record*>& records) {
  std::map<std::string, std::size_t> counts;
  for (const Record* record : records) {
    if (!record->reason.empty()) ++counts[printable(first_line(record->reason))];
  }
  std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

std::string group_lines(const FailureGroup& group, bool color) {
  const std::string indent(status_width + 2, ' ');
  std::string text =
      painted(padded(std::string(name_of(group.status)), status_width), ink_of(group.status), color) + "  " +
      printable(group_text(group)) + '\n';
  text += indent + printable(group.example) + '\n';
  if (!group.story.empty()) text += indent + painted(printable(group.story), Ink::Dim, color) + '\n';
  return text;
}

// The reasons of failures are in the list above the totals.
bool shows_reasons(Status status) {
  return status == Status::Missing || (status != Status::Pass && class_of(status) == StatusClass::Fine);
}

constexpr int enough_blocks = 5;  // with fewer, the interval covers less than its nominal probability
constexpr double close_to_one = 1.1;

using Baselines = std::map<RowKey, const Record*>;

RowKey key_of_baseline(const Record& record) {
  RowKey key = key_of(record.info);
  key.id = record.comparison->baseline;
  return key;
}

/// The rows that others are compared with, found in one pass; null: the report has no such row.
Baselines baselines_of(const RunReport& report) {
  Baselines baselines;
  for (const Record& record : report.records) {
    if (record.comparison) baselines[key_of_baseline(record)] = nullptr;
  }
  if (baselines.empty()) return baselines;
  for (const Record& record : report.records) {
    const auto found = baselines.find(key_of(record.info));
    if (found != baselines.end() && found->second == nullptr) found->second = &record;
  }
  return baselines;
}

std::string shaders_of(const RowInfo& info) {
  return info.shaders ? "shaders " + *info.shaders : "the embedded shaders";
}

// Names the difference between the two rows.
std::string parties(const RowInfo& info, const RowInfo& baseline) {
  if (info.impl != baseline.impl) return info.impl + " vs " + baseline.impl;
  return shaders_of(info) + " vs " + shaders_of(baseline);
}

std::string factor(double value) {
  return fixed(value, value < close_to_one ? 3 : 2);
}

std::string verdict(const Comparison& c) {
  if (c.ratio_low <= 1 && c.ratio_high >= 1) {
    return fmt::format("no difference: the interval of the ratio contains 1 ({} .. {})",
                       fixed(c.ratio_low, 3), fixed(c.ratio_high, 3));
  }
  if (c.ratio < 1) {
    return fmt::format("{}x faster ({} .. {})", factor(1 / c.ratio), factor(1 / c.ratio_high),
                       factor(1 / c.ratio_low));
  }
  return fmt::format("{}x slower ({} .. {})", factor(c.ratio), factor(c.ratio_low), factor(c.ratio_high));
}

std::string compared(const Record& record, const Record& baseline) {
  const Comparison& c = *record.comparison;
  std::string text = fmt::format("{}, {} us -> {} us", verdict(c), fixed(baseline.perf->time_us_p50, 2),
                                 fixed(record.perf->time_us_p50, 2));
  if (c.blocks < enough_blocks) text += fmt::format("; only {} blocks: the interval says little", c.blocks);
  if (record.perf->spirv_hash == baseline.perf->spirv_hash)
    text += "; both have the same SPIR-V: the difference is noise";
  return text;
}

Ink ink_of(const Comparison& c) {
  if (c.ratio <= 0) return Ink::Magenta;
  if (c.ratio_low <= 1 && c.ratio_high >= 1) return Ink::Plain;
  return c.ratio < 1 ? Ink::Green : Ink::Red;
}

std::string line_of(const Baselines& baselines, const Record& record, bool color) {
  const Record* baseline = baselines.at(key_of_baseline(record));
  const std::string head = printable(record.info.id) + "  ";
  std::string text = baseline == nullptr ? "" : parties(record.info, baseline->info) + ": ";
  const bool has_ratio =
      record.comparison->ratio > 0 && baseline != nullptr && has_time(*baseline) && has_time(record);
  text += has_ratio ? compared(record, *baseline) : "not compared: " + record.comparison->note;
  return head + painted(printable(text), ink_of(*record.comparison), color) + '\n';
}

const Record* find(const RunReport& report, const RowInfo& info) {
  const auto found = std::ranges::find_if(
      report.records, [&](const Record& record) { return key_of(record.info) == key_of(info); });
  return found == report.records.end() ? nullptr : &*found;
}

std::string name_of_row(const RowInfo& info) {
  return printable(info.id) + (info.mode == "perf" ? " (" + printable(mode_words(info)) + ")" : "");
}

std::string why(const Record& record) {
  if (record.status == Status::Pass) return "";
  return record.reason.empty() && record.accuracy ? describe(*record.accuracy) : record.reason;
}

// ---- times

double half_width_us(const PerfResult& perf) {
  return perf.ci_pct / 100 * perf.time_us_p50;
}

std::string time_of(const PerfResult& perf) {
  return fmt::format("{} us +- {} %", fixed(perf.time_us_p50, 2), fixed(perf.ci_pct, 1));
}

bool meet(const PerfResult& a, const PerfResult& b) {
  return std::fabs(a.time_us_p50 - b.time_us_p50) <= half_width_us(a) + half_width_us(b);
}

std::string time_change(const PerfResult& before, const PerfResult& after) {
  const std::string times = time_of(before) + " -> " + time_of(after);
  if (meet(before, after)) return "time same: " + times;
  const bool faster = after.time_us_p50 < before.time_us_p50;
  const double factor =
      faster ? before.time_us_p50 / after.time_us_p50 : after.time_us_p50 / before.time_us_p50;
  return fmt::format("time {}, {}x {}", times, fixed(factor, 2), faster ? "faster" : "slower");
}

std::string time_text(const Record* before, const Record& after) {
  const bool timed_before = before != nullptr && has_time(*before);
  if (!has_time(after)) return timed_before ? "no time, before " + time_of(*before->perf) : "";
  return timed_before ? time_change(*before->perf, *after.perf) : "time " + time_of(*after.perf);
}

// ---- rows

/// The change of one row between two runs.
class RowChange {
 public:
  RowChange(const Record* before, const Record& after) : before_(before), after_(after) {}

  /// Whether anything changed. A difference of times within their noise is no change.
  bool any() const {
    if (before_ == nullptr || before_->status != after_.status || why(*before_) != why(after_)) return true;
    return has_time(*before_) && has_time(after_) && !meet(*before_->perf, *after_.perf);
  }

  std::string statuses() const {
    const std::string now(name_of(after_.status));
    if (before_ == nullptr) return "new: " + now;
    return before_->status == after_.status ? now : std::string(name_of(before_->status)) + " -> " + now;
  }

  std::string time() const { return time_text(before_, after_); }

 private:
  const Record* before_;
  const Record& after_;
};

/// Reasons that were already shown: a shader that does not compile fails every row with the same text.
class Reasons {
 public:
  /// The reason that follows its row's line: in full the first time, then only its first line.
  std::string text(const Record& record) {
    const std::string reason = printable(why(record));
    if (reason.empty()) return "";
    const bool known = !told_.insert(reason).second;
    const std::string shown = known ? first_line(reason) + " (as above)" : reason;
    return "  " + indented(shown, 2) + '\n';
  }

 private:
  std::set<std::string> told_;
};

std::string line_of(const RowChange& change, const Record& after, bool color) {
  std::string line = painted(change.statuses(), ink_of(after.status), color) + "  " + name_of_row(after.info);
  if (const std::string time = change.time(); !time.empty()) line += "  " + time;
  return line + '\n';
}

std::string unchanged_line(std::size_t rows, const Record* only) {
  if (rows == 0) return "";
  if (rows == 1 && only->status != Status::Pass)
    return "no change: " + name_of_row(only->info) + " is " + std::string(name_of(only->status)) + '\n';
  if (rows == 1) {
    const std::string time = has_time(*only) ? "  time same: " + time_of(*only->perf) : "";
    return "no change: " + name_of_row(only->info) + time + '\n';
  }
  return "no change: " + std::to_string(rows) + " rows\n";
}

}  // namespace

std::string failure_list(const RunReport& report, std::size_t limit, bool color) {
  const std::vector<FailureGroup> groups = failure_groups(report);
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, groups.size()); ++i) text += group_lines(groups[i], color);
  if (groups.size() > limit)
    text += "and " + std::to_string(groups.size() - limit) + " more kinds; the reports have them all\n";
  return text;
}

std::string status_totals(const RunReport& report, bool color) {
  std::map<Status, std::vector<const Record*>> by_status;
  for (const Record& record : report.records) by_status[record.status].push_back(&record);
  std::string text;
  for (const auto& [status, records] : by_status) {
    text += painted(padded(std::string(name_of(status)), status_width), ink_of(status), color) +
            counted(records.size()) + '\n';
    if (!shows_reasons(status)) continue;
    for (const auto& [reason, count] : reasons_of(records)) {
      text +=
          std::string(status_width, ' ') + painted(counted(count) + "  " + reason, Ink::Dim, color) + '\n';
    }
  }
  return text;
}

std::string replay_line(const RunReport& report) {
  std::size_t rows = 0, varying = 0;
  int fewest = 0, most = 0;
  for (const Record& record : report.records) {
    if (!record.accuracy || !record.accuracy->replay) continue;
    const Replay& replay = *record.accuracy->replay;
    fewest = rows == 0 ? replay.runs : std::min(fewest, replay.runs);
    most = std::max(most, replay.runs);
    ++rows;
    varying += varies(replay) ? 1 : 0;
  }
  if (rows == 0) return "";
  const std::string runs = fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
  const std::string what = fmt::format("{} {}, {} runs each: ", rows, rows == 1 ? "row" : "rows", runs);
  if (varying > 0) return what + fmt::format("the answers of {} are wrong or vary", varying);
  return what + fmt::format(
                    "all right and equal; a row that is wrong in {} % of its runs would have shown it "
                    "(95 %)",
                    fixed(100 * unseen_share(static_cast<std::size_t>(std::max(fewest, 0))), 1));
}

std::string comparison_lines(const RunReport& report, bool color) {
  const Baselines baselines = baselines_of(report);
  std::string lines;
  std::map<std::string, std::size_t> without_baseline;  // by the reason why there is none
  for (const Record& record : report.records) {
    if (!record.comparison) continue;
    if (record.comparison->baseline.empty()) {
      ++without_baseline[record.comparison->note];
    } else {
      lines += line_of(baselines, record, color);
    }
  }
  for (const auto& [note, rows] : without_baseline) {
    lines +=
        fmt::format("{} {} compared: {}\n", rows, rows == 1 ? "row is not" : "rows are not", printable(note));
  }
  return lines;
}

std::string change_lines(const RunReport& before, const RunReport& after, bool color) {
  std::string lines;
  Reasons reasons;
  std::size_t unchanged = 0;
  const Record* last_unchanged = nullptr;
  for (const Record& record : after.records) {
    const RowChange change(find(before, record.info), record);
    if (change.any()) {
      lines += line_of(change, record, color) + reasons.text(record);
    } else {
      ++unchanged;
      last_unchanged = &record;
    }
  }
  for (const Record& record : before.records) {
    if (find(after, record.info) == nullptr) lines += "gone  " + name_of_row(record.info) + '\n';
  }
  return lines + unchanged_line(unchanged, last_unchanged);
}

}  // namespace assay
