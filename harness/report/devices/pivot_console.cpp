#include "harness/base/text.h"
#include "harness/report/console/ceilings_text.h"
#include "harness/report/console/text_table.h"
#include "harness/report/devices/hashes.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace assay {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

/// Columns that a device takes in the table of times: a time, its ratio and two gaps.
constexpr std::size_t device_columns = 20;

// Indents every line.
std::string shifted(const std::string& lines, std::size_t by) {
  std::string text;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) text += std::string(by, ' ') + line + '\n';
  return text;
}

std::string devices_text(const Pivot& pivot, std::size_t width) {
  std::string text = "devices\n";
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    const RunReport& report = pivot.reports[i];
    const RunInfo& run = report.run;
    const std::string driver = run.device.driver_name + " " + run.device.driver_info;
    text += "  " + pivot.devices[i] + (report.complete ? "" : " (the run did not finish)") + '\n';
    for (const std::string& line :
         {printable(driver) + ", assay " + printable(run.version) + ", " + printable(run.started_utc),
          "ceilings: " + ceilings_line(run.ceilings)})
      text += shifted(wrapped_words(line, width - 6), 6);
  }
  return text;
}

std::string means_text(const Pivot& pivot, std::size_t width) {
  std::string text = "\ngeometric means of the time relative to " + pivot.devices.front() +
                     ", over the rows that both have\n";
  for (std::size_t i = 1; i < pivot.devices.size(); ++i) {
    const std::vector<PivotMean> means = pivot.means(i);
    if (means.front().rows == 0) {
      text += "  " + pivot.devices[i] + ": no row in common\n";
      continue;
    }
    text += "  " + pivot.devices[i] + '\n';
    Table table;
    for (const PivotMean& mean : means) {
      table.push_back({significant(mean.ratio, 3) + "x", counted_rows(mean.rows),
                       mean.op.empty() ? "all ops" : printable(mean.op)});
    }
    table.insert(table.begin(), Cells(3));
    const std::string lines = text_table(table, {true, true, false}, width - 2);
    text += shifted(lines.substr(lines.find('\n') + 1), 2);
  }
  return text;
}

std::size_t devices_with(const PivotRow& row) {
  return static_cast<std::size_t>(
      std::ranges::count_if(row.records, [](const Record* record) { return record != nullptr; }));
}

std::string time_text(const Record* record) {
  if (record == nullptr) return "";
  return has_figures(record) ? fixed(record->perf->time_us_p50, 2) : std::string(name_of(record->status));
}

/// For one report, a time with its interval, share of the ceiling and ratio. For several, the time on each
/// device, and relative to the first.
Cells row_cells(const Pivot& pivot, const PivotRow& row, std::size_t devices) {
  Cells cells;
  for (std::size_t i = 0; i < devices; ++i) {
    cells.push_back(time_text(row.records[i]));
    const double ratio = i == 0 ? 0 : pivot.over_first(row, i);
    if (i > 0) cells.push_back(ratio > 0 ? significant(ratio, 3) + "x" : "");
  }
  if (devices == 1) {
    const Record* record = row.records.front();
    const bool is_timed = has_figures(record);
    const double peak = is_timed ? percent_of_peak(*record->perf) : 0;
    cells.push_back(is_timed ? fixed(record->perf->ci_pct, 1) : "");
    cells.push_back(peak > 0 ? fixed(peak, 1) : "");
    cells.push_back(pivot.ratio(row, 0) > 0 ? fixed(pivot.ratio(row, 0), 2) + "x" : "");
  }
  const RowInfo& info = row.any().info;
  cells.push_back(printable(info.id) + (info.tune.empty() ? "" : " (" + printable(info.tune) + ")"));
  return cells;
}

Cells header_of(const Pivot& pivot, std::size_t devices) {
  Cells cells;
  for (std::size_t i = 0; i < devices; ++i) {
    cells.push_back(shortened(pivot.devices[i], 14) + ", us");
    if (i > 0) cells.push_back("");
  }
  if (devices == 1) cells.insert(cells.end(), {"+- %", "% ceiling", "ratio"});
  cells.emplace_back("row");
  return cells;
}

std::string times_text(const Pivot& pivot, const PivotView& view) {
  const std::size_t all_devices = pivot.devices.size();
  const std::size_t devices = std::clamp(view.width / device_columns, std::size_t{1}, all_devices);
  Table table{header_of(pivot, devices)};
  std::vector<std::size_t> alone(all_devices);
  for (const PivotRow& row : pivot.rows) {
    if (all_devices > 1 && devices_with(row) == 1 && !view.all) {
      const auto owner =
          std::ranges::find_if(row.records, [](const Record* record) { return record != nullptr; });
      ++alone[static_cast<std::size_t>(owner - row.records.begin())];
    } else {
      table.push_back(row_cells(pivot, row, devices));
    }
  }
  std::vector<bool> right(table[0].size(), true);
  right.back() = false;
  std::string text = "\n" + (table.size() > 1 ? text_table(table, right, view.width)
                                              : std::string("no timed row is on more than one device\n"));
  if (devices < all_devices) {
    text +=
        fmt::format("and {} more devices: --csv FILE or --markdown FILE shows them\n", all_devices - devices);
  }
  std::string owners;
  for (std::size_t i = 0; i < all_devices; ++i) {
    if (alone[i] > 0)
      owners += fmt::format("{}{} {}", owners.empty() ? "" : ", ", alone[i], pivot.devices[i]);
  }
  if (!owners.empty())
    text += wrapped_words("rows that only one device has: " + owners + "; --all lists them", view.width);
  return text;
}

}  // namespace

std::string pivot_text(const Pivot& pivot, const PivotView& view) {
  std::string text = devices_text(pivot, view.width);
  for (const std::string& sentence : pivot.not_compared())
    text += '\n' + wrapped_words(printable(sentence), view.width);
  if (pivot.reports.size() > 1) text += means_text(pivot, view.width);
  if (!pivot.rows.empty()) text += times_text(pivot, view);
  if (pivot.reports.size() > 1)
    text += '\n' + wrapped_words(hash_totals(compare_hashes(pivot.reports)), view.width);
  return text;
}

}  // namespace assay
