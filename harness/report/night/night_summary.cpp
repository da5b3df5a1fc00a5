#include "harness/report/compare/compare_text.h"
#include "harness/report/night/night.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

namespace assay {
namespace {

SummaryRow compared_row(const RowVerdict& row) {
  SummaryRow summary{
      .id = row.info.id, .mode = mode_words(row.info), .word = std::string(name_of(*row.verdict))};
  if (row.ratio > 0) {
    summary.figure = times_line(row);
  }
  summary.reason = row.reason;
  return summary;
}

/// Rows that failed tonight are in the table of failures.
bool is_failure(const RowVerdict& row) {
  return row.next && class_of(row.next->status) != StatusClass::Fine;
}

/// The failures of a group as one row of the table, with its example.
SummaryRow group_row(const FailureGroup& group, const FailedRow& example) {
  const std::string story = group.story.empty() ? "" : ": " + group.story;
  return summary_row(example.info, group.status, group_text(group) + story, example.repro);
}

void add_compared(SummaryDevice& summary, const DeviceNight& device) {
  if (!device.last_good) return;
  std::size_t failed = 0;
  for (const RowVerdict& row : device.last_good->comparison.rows) {
    if (!device.failing.contains(*row.verdict) || device.is_accepted_row(row.info)) continue;
    is_failure(row) ? void(++failed) : summary.compared.push_back(compared_row(row));
  }
  const std::size_t listed = summary.compared.size() + failed;
  summary.compared_left_out = std::max(device.regressions(), listed) - listed;
}

SummaryDevice device_of(const DeviceNight& device) {
  SummaryDevice summary{.title = device.slug,
                        .verdict = std::string(name_of(device.verdict())),
                        .notes = device.all_problems()};
  for (const std::string& warning : device.all_warnings()) summary.notes.push_back(warning);
  for (const std::string& note : strict_notes(device)) summary.notes.push_back(note);
  add_compared(summary, device);
  if (!device.run) return summary;
  summary.statuses = device.run->statuses;
  for (std::size_t i = 0; i < device.run->groups.size(); ++i)
    summary.failures.push_back(group_row(device.run->groups[i], device.run->examples[i]));
  return summary;
}

}  // namespace

GithubSummary night_summary(const Night& night) {
  GithubSummary summary{.title = "Night " + night.name};
  summary.answer = fmt::format("**{}**: {} of {} devices good", name_of(night.verdict()), night.good(),
                               night.devices.size());
  for (const DeviceNight& device : night.devices) summary.devices.push_back(device_of(device));
  return summary;
}

}  // namespace assay
