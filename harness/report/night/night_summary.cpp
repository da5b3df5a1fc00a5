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

void add_compared(SummaryDevice& summary, const DeviceNight& device) {
  if (!device.last_good) return;
  for (const RowVerdict& row : device.last_good->comparison.rows) {
    if (device.failing.contains(*row.verdict)) summary.compared.push_back(compared_row(row));
  }
  summary.compared_left_out = device.regressions() - summary.compared.size();
}

SummaryDevice device_of(const DeviceNight& device) {
  SummaryDevice summary{.title = device.slug,
                        .verdict = std::string(name_of(device.verdict())),
                        .notes = device.all_problems()};
  for (const std::string& warning : device.all_warnings()) summary.notes.push_back(warning);
  add_compared(summary, device);
  if (!device.run) return summary;
  summary.statuses = device.run->statuses;
  for (const FailedRow& row : device.run->failures)
    summary.failures.push_back(summary_row(row.info, row.status, row.reason, row.repro));
  summary.failures_left_out = device.run->failures_left_out;
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
