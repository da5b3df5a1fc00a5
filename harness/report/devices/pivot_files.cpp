#include "harness/base/text.h"
#include "harness/report/console/ceilings_text.h"
#include "harness/report/devices/hashes.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/columns.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/markdown.h"

#include <map>

namespace assay {
namespace {

using Cells = std::vector<std::string>;

// "" stands for an absent value, as in every report.
std::string ratio_text(double ratio, int digits) {
  return ratio > 0 ? fixed(ratio, digits) : "";
}

std::string csv_value(const Column& column, const Pivot& pivot, const PivotRow& row, std::size_t device) {
  const Record* record = row.records[device];
  if (record == nullptr) return "";
  if (column.name == "status") return column.value(pivot.reports[device].run, *record);
  if (column.name == "ratio_to_first") return ratio_text(pivot.ratio(row, device), 4);
  return has_figures(record) ? column.value(pivot.reports[device].run, *record) : "";
}

std::string csv_header(const Pivot& pivot) {
  Cells cells;
  for (const Column& column : pivot_case_columns()) cells.push_back(column.name);
  for (const std::string& device : pivot.devices) {
    for (const Column& column : pivot_device_columns()) cells.push_back(device + ":" + column.name);
  }
  return csv_row(cells);
}

std::string impl_text(const RowInfo& info) {
  const std::string cold = info.cache == "cold" ? ", cold" : "";
  return markdown_cell((info.tune.empty() ? info.impl : info.impl + " (" + info.tune + ")") + cold);
}

std::string devices_table(const Pivot& pivot) {
  std::vector<Cells> rows = {{"device", "name", "driver", "assay", "started", "run", "ceilings"}};
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    const RunInfo& run = pivot.reports[i].run;
    rows.push_back({markdown_cell(pivot.devices[i]), markdown_cell(run.device.name),
                    markdown_cell(run.device.driver_name + " " + run.device.driver_info),
                    markdown_cell(run.version), markdown_cell(run.started_utc),
                    pivot.reports[i].complete ? "complete" : "did not finish",
                    markdown_cell(ceilings_line(run.ceilings))});
  }
  return markdown_aligned(rows, std::vector<bool>(rows[0].size(), false));
}

std::string gigabytes(const PerfResult& perf) {
  if (perf.bytes <= 0 || !(perf.time_us_p50 > 0)) return "";
  const double rate = static_cast<double>(perf.bytes) / perf.time_us_p50 / 1e3;
  return fixed(rate, rate < 10 ? 2 : 1);
}

/// The columns that a table has only if some row has a value in them.
struct Extras {
  bool ceiling = false;
  bool ratio = false;
};

Extras extras_of(const Pivot& pivot) {
  Extras extras;
  for (const PivotRow& row : pivot.rows) {
    extras.ratio = extras.ratio || row.has_rivals;
    for (const Record* record : row.records) {
      extras.ceiling = extras.ceiling || (has_figures(record) && percent_of_peak(*record->perf) > 0);
    }
  }
  return extras;
}

std::string ceiling_text(const Record* record) {
  if (record == nullptr || !has_figures(record)) return "";
  const double percent = percent_of_peak(*record->perf);
  return percent > 0 ? fixed(percent, 1) : "";
}

void add_times(Cells& cells, const Pivot& pivot, const PivotRow& row, std::size_t device, Extras extras) {
  const Record* record = row.records[device];
  if (has_figures(record)) {
    cells.push_back(fixed(record->perf->time_us_p50, 2));
    cells.push_back(fixed(record->perf->ci_pct, 1));
    cells.push_back(gigabytes(*record->perf));
  } else {
    cells.push_back(record == nullptr ? "" : std::string(name_of(record->status)));
    cells.insert(cells.end(), 2, "");
  }
  if (extras.ceiling) cells.push_back(ceiling_text(record));
  if (extras.ratio) cells.push_back(ratio_text(pivot.ratio(row, device), 2));
}

std::string times_table(const Pivot& pivot) {
  const Extras extras = extras_of(pivot);
  std::vector<Cells> rows = {{"case", "impl"}};
  for (const std::string& device : pivot.devices) {
    rows[0].push_back(markdown_cell(device) + ", us");
    rows[0].insert(rows[0].end(), {"+- %", "GB/s"});
    if (extras.ceiling) rows[0].push_back("% ceiling");
    if (extras.ratio) rows[0].push_back("ratio");
  }
  for (const PivotRow& row : pivot.rows) {
    const RowInfo& info = row.any().info;
    Cells& cells = rows.emplace_back(Cells{markdown_code(info.id), impl_text(info)});
    for (std::size_t i = 0; i < pivot.devices.size(); ++i) add_times(cells, pivot, row, i, extras);
  }
  std::vector<bool> right(rows[0].size(), true);
  right[0] = right[1] = false;
  return markdown_aligned(rows, right);
}

std::string accuracy_table(const Pivot& pivot) {
  std::map<Status, std::vector<std::size_t>> counts;
  std::vector<std::size_t> sums(pivot.reports.size());
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    for (const Record& record : pivot.reports[i].records) {
      if (record.info.mode == "perf") continue;
      std::vector<std::size_t>& of_status = counts[record.status];
      of_status.resize(pivot.reports.size());
      ++of_status[i];
      ++sums[i];
    }
  }
  if (counts.empty()) return "";
  std::vector<Cells> rows = {{"accuracy"}};
  for (const std::string& device : pivot.devices) rows[0].push_back(markdown_cell(device));
  const auto add = [&](std::string label, const std::vector<std::size_t>& numbers) {
    Cells& cells = rows.emplace_back(Cells{std::move(label)});
    for (const std::size_t number : numbers) cells.push_back(std::to_string(number));
  };
  for (const auto& [status, numbers] : counts) add(std::string(name_of(status)), numbers);
  add("all", sums);
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  return markdown_aligned(rows, right);
}

std::string means_table(const Pivot& pivot) {
  std::vector<Cells> rows = {
      {"geometric mean of the time relative to " + markdown_cell(pivot.devices.front())}};
  std::map<std::string, std::size_t> places;
  const auto row_of = [&](const std::string& op) -> Cells& {
    const auto [at, is_new] = places.try_emplace(op, rows.size());
    if (is_new) rows.emplace_back(Cells{op.empty() ? "all ops" : markdown_code(op)});
    return rows[at->second];
  };
  for (std::size_t i = 1; i < pivot.devices.size(); ++i) {
    rows[0].insert(rows[0].end(), {markdown_cell(pivot.devices[i]), "rows"});
    for (const PivotMean& mean : pivot.means(i)) {
      if (mean.rows == 0) continue;
      Cells& cells = row_of(mean.op);
      cells.resize(2 * i - 1);
      cells.insert(cells.end(), {significant(mean.ratio, 3), std::to_string(mean.rows)});
    }
  }
  if (rows.size() == 1) return "";
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  return markdown_aligned(rows, right);
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string pivot_csv(const Pivot& pivot) {
  std::string csv = csv_header(pivot);
  for (const PivotRow& row : pivot.rows) {
    Cells cells;
    for (const Column& column : pivot_case_columns()) cells.push_back(column.value({}, row.any()));
    for (std::size_t i = 0; i < pivot.devices.size(); ++i) {
      for (const Column& column : pivot_device_columns()) cells.push_back(csv_value(column, pivot, row, i));
    }
    csv += csv_row(cells);
  }
  return csv;
}

std::string pivot_markdown(const Pivot& pivot) {
  std::string text = devices_table(pivot);
  for (const std::string& sentence : pivot.not_compared()) text += paragraph(markdown_cell(sentence) + '\n');
  text += paragraph(means_table(pivot));
  if (!pivot.rows.empty()) text += paragraph(times_table(pivot));
  text += paragraph(accuracy_table(pivot));
  if (pivot.reports.size() > 1) text += paragraph(hash_totals(compare_hashes(pivot.reports)));
  return text;
}

}  // namespace assay
