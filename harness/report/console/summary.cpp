#include "harness/report/console/summary.h"

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

}  // namespace assay
