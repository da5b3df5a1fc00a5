#include "harness/report/console/changes.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

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
