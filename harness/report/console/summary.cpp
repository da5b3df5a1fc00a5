#include "harness/report/console/summary.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/record/words.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace assay {
namespace {

bool is_bad(const Record& record) {
  return class_of(record.status) != StatusClass::Fine;
}

// What never ran says less than what failed: it comes last.
std::vector<const Record*> bad_records(const RunReport& report) {
  std::vector<const Record*> bad;
  for (const Record& record : report.records) {
    if (is_bad(record)) bad.push_back(&record);
  }
  std::ranges::stable_partition(bad, [](const Record* record) { return record->status != Status::Missing; });
  return bad;
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

std::string reason_of(const Record& record) {
  if (!record.reason.empty()) return first_line(record.reason);
  return record.accuracy ? first_line(describe(*record.accuracy)) : "";
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string counted(std::size_t count) {
  std::string text = std::to_string(count);
  return std::string(text.size() < 6 ? 6 - text.size() : 0, ' ') + text;
}

constexpr std::size_t status_width = 15;  // UNEXPECTED_PASS

// Reasons by how often they were given.
std::vector<std::pair<std::string, std::size_t>> reasons_of(const std::vector<const Record*>& records) {
  std::map<std::string, std::size_t> counts;
  for (const Record* record : records) {
    if (!record->reason.empty()) ++counts[first_line(record->reason)];
  }
  std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

// Failures have reasons of their own, and they stand in the list above the totals.
bool shows_reasons(Status status) {
  return status == Status::Missing || (status != Status::Pass && class_of(status) == StatusClass::Fine);
}

}  // namespace

std::string failure_list(const RunReport& report, std::size_t limit, bool color) {
  const std::vector<const Record*> bad = bad_records(report);
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, bad.size()); ++i) {
    const Record& record = *bad[i];
    const std::string mode = record.info.mode == "perf" ? " (perf)" : "";
    text += painted(padded(std::string(name_of(record.status)), status_width), ink_of(record.status), color) +
            "  " + printable(record.info.id) + mode + '\n';
    if (const std::string reason = reason_of(record); !reason.empty()) {
      text += std::string(status_width + 2, ' ') + painted(reason, Ink::Dim, color) + '\n';
    }
  }
  if (bad.size() > limit)
    text += "and " + std::to_string(bad.size() - limit) + " more; the reports have them all\n";
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

}  // namespace assay
