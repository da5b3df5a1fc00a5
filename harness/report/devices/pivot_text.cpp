#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/labelled_text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/columns.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// What told the energies of a run, or why there are none.
std::string energy_line(const RunInfo& run) {
  return run.energy.empty() ? "not measured (--energy)" : printable(run.energy);
}

std::string devices_text(const Pivot& pivot, std::size_t width) {
  std::string text = "devices\n";
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    const RunReport& report = pivot.reports[i];
    const RunInfo& run = report.run;
    const std::string driver = driver_of(run.device);
    const std::string name = pivot.devices[i] + kind_addition(kind_of_run(run)) +
                             (report.complete ? "" : " (the run did not finish)");
    text += shifted(wrapped_words(name, width - 2), 2);
    std::vector<std::string> lines{
        printable(driver) + ", assay " + printable(run.version) + ", " + printable(run.started_utc),
        "ceilings: " + ceilings_line(run.ceilings)};
    if (pivot.figure->is_of_energy) lines.push_back("energy: " + energy_line(run));
    for (const std::string& line : lines) text += shifted(wrapped_words(line, width - 6), 6);
  }
  return text;
}

/// Why there is no mean of a device's figures relative to the first one's.
std::string why_no_mean(const Pivot& pivot, std::size_t device) {
  if (kind_of_run(pivot.reports[device].run) != kind_of_run(pivot.reports.front().run))
    return "a run of another kind";
  return pivot.figure->is_of_energy ? "no energies to compare" : "no row in common";
}

std::string means_text(const Pivot& pivot, std::size_t width) {
  std::string text = fmt::format("\ngeometric means of the {} relative to {}, over the rows that both have\n",
                                 pivot.figure->name, pivot.devices.front());
  for (std::size_t i = 1; i < pivot.devices.size(); ++i) {
    const std::vector<PivotMean> means = pivot.means(i);
    if (means.front().rows == 0) {
      text += fmt::format("  {}: {}\n", pivot.devices[i], why_no_mean(pivot, i));
      continue;
    }
    text += "  " + pivot.devices[i] + '\n';
    Table table;
    for (const PivotMean& mean : means) {
      table.push_back({readable(mean.ratio, 3) + "x", counted_rows(mean.rows),
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

bool shows_time(const Pivot& pivot) {
  return pivot.figure->column == "time_us_p50";
}

std::string figure_text(const Pivot& pivot, const PivotRow& row, std::size_t device) {
  const Record* record = row.records[device];
  if (record == nullptr) return "";
  if (!has_figures(record)) return std::string(name_of(record->status));
  const double value = pivot.value(row, device);
  if (shows_time(pivot)) return fixed(value, 2);
  return value > 0 ? readable(value, 4) : "";
}

/// Whether the table shows a row: rows that were timed in runs without --energy have no energy to show.
bool has_a_figure(const Pivot& pivot, const PivotRow& row) {
  if (shows_time(pivot)) return true;
  for (std::size_t i = 0; i < pivot.devices.size(); ++i) {
    if (pivot.value(row, i) > 0) return true;
  }
  return false;
}

/// "rows without energy_j: 3 of 8"; empty if each row has the figure.
std::string rows_without_figure(const Pivot& pivot) {
  const auto without =
      std::ranges::count_if(pivot.rows, [&](const PivotRow& row) { return !has_a_figure(pivot, row); });
  if (without == 0) return "";
  return fmt::format("rows without {}: {} of {}", pivot.figure->column, without, pivot.rows.size());
}

/// For one report, a figure and its ratio; of times also the interval and the share of the ceiling. For
/// several, the figure on each device, and relative to the first.
Cells row_cells(const Pivot& pivot, const PivotRow& row, std::size_t devices) {
  Cells cells;
  for (std::size_t i = 0; i < devices; ++i) {
    cells.push_back(figure_text(pivot, row, i));
    const double ratio = i == 0 ? 0 : pivot.over_first(row, i);
    if (i > 0) cells.push_back(ratio > 0 ? readable(ratio, 3) + "x" : "");
  }
  if (devices == 1) {
    const Record* record = row.records.front();
    const bool is_timed = has_figures(record);
    const double peak = is_timed ? percent_of_peak(*record->perf) : 0;
    if (shows_time(pivot)) {
      cells.push_back(is_timed ? fixed(record->perf->ci_pct, 1) : "");
      cells.push_back(peak > 0 ? fixed(peak, 1) : "");
    }
    cells.push_back(pivot.ratio(row, 0) > 0 ? fixed(pivot.ratio(row, 0), 2) + "x" : "");
  }
  const RowInfo& info = row.any().info;
  const std::string tunables = all_tunables(info.tune, info.tuned);
  cells.push_back(printable(info.id) + (tunables.empty() ? "" : " (" + printable(tunables) + ")"));
  return cells;
}

Cells header_of(const Pivot& pivot, std::size_t devices) {
  Cells cells;
  for (std::size_t i = 0; i < devices; ++i) {
    cells.push_back(fmt::format("{}, {}", shortened_device_name(pivot.devices[i], 14), pivot.figure->unit));
    if (i > 0) cells.push_back("");
  }
  if (devices == 1 && shows_time(pivot)) cells.insert(cells.end(), {"+- %", "% ceiling"});
  if (devices == 1) cells.emplace_back("ratio");
  cells.emplace_back("row");
  return cells;
}

std::string figures_text(const Pivot& pivot, const PivotView& view) {
  const std::size_t all_devices = pivot.devices.size();
  const std::size_t devices = std::clamp(view.width / device_columns, std::size_t{1}, all_devices);
  Table table{header_of(pivot, devices)};
  std::vector<std::size_t> alone(all_devices);
  for (const PivotRow& row : pivot.rows) {
    if (!has_a_figure(pivot, row)) continue;
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
  if (const std::string without = rows_without_figure(pivot); !without.empty()) text += without + '\n';
  return text;
}

// "" stands for an absent value, as in every report.
std::string ratio_text(double ratio, int digits) {
  return ratio > 0 ? fixed(ratio, digits) : "";
}

std::string csv_value(const Column& column, const Pivot& pivot, const PivotRow& row, std::size_t device) {
  const Record* record = row.records[device];
  if (record == nullptr) return "";
  if (column.name == "status") return column.value(pivot.reports[device].run, *record);
  if (column.name == "ratio_to_first") return ratio_text(pivot.time_ratio(row, device), 4);
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
  const std::string tunables = all_tunables(info.tune, info.tuned);
  return markdown_cell((tunables.empty() ? info.impl : info.impl + " (" + tunables + ")") + cold);
}

std::string devices_table(const Pivot& pivot) {
  std::vector<Cells> rows = {{"device", "name", "driver", "assay", "started", "run", "ceilings"}};
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    const RunInfo& run = pivot.reports[i].run;
    rows.push_back({markdown_cell(pivot.devices[i] + kind_addition(kind_of_run(run))),
                    markdown_cell(run.device.name), markdown_cell(driver_of(run.device)),
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
  bool energy = false;
};

Extras extras_of(const Pivot& pivot) {
  Extras extras;
  for (const PivotRow& row : pivot.rows) {
    extras.ratio = extras.ratio || row.has_rivals;
    for (const Record* record : row.records) {
      extras.ceiling = extras.ceiling || (has_figures(record) && percent_of_peak(*record->perf) > 0);
      extras.energy = extras.energy || (has_figures(record) && record->perf->energy);
    }
  }
  return extras;
}

std::string ceiling_text(const Record* record) {
  if (record == nullptr || !has_figures(record)) return "";
  const double percent = percent_of_peak(*record->perf);
  return percent > 0 ? fixed(percent, 1) : "";
}

std::string joules_text(const Record* record) {
  if (record == nullptr || !has_figures(record) || !record->perf->energy) return "";
  return readable(record->perf->energy->joules, 4);
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
  if (extras.energy) cells.push_back(joules_text(record));
}

std::string times_table(const Pivot& pivot) {
  const Extras extras = extras_of(pivot);
  std::vector<Cells> rows = {{"case", "impl"}};
  for (const std::string& device : pivot.devices) {
    rows[0].push_back(markdown_cell(device) + ", us");
    rows[0].insert(rows[0].end(), {"+- %", "GB/s"});
    if (extras.ceiling) rows[0].push_back("% ceiling");
    if (extras.ratio) rows[0].push_back("ratio");
    if (extras.energy) rows[0].push_back("J");
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

/// The figure on each device, and its ratio to the first device's.
std::string figures_table(const Pivot& pivot) {
  std::vector<Cells> rows = {{"case", "impl"}};
  for (std::size_t i = 0; i < pivot.devices.size(); ++i) {
    rows[0].push_back(fmt::format("{}, {}", markdown_cell(pivot.devices[i]), pivot.figure->unit));
    if (i > 0) rows[0].push_back("/ " + markdown_cell(pivot.devices.front()));
  }
  for (const PivotRow& row : pivot.rows) {
    if (!has_a_figure(pivot, row)) continue;
    Cells& cells = rows.emplace_back(Cells{markdown_code(row.any().info.id), impl_text(row.any().info)});
    for (std::size_t i = 0; i < pivot.devices.size(); ++i) {
      cells.push_back(figure_text(pivot, row, i));
      if (i > 0) cells.push_back(ratio_text(pivot.over_first(row, i), 2));
    }
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
  std::vector<Cells> rows = {{fmt::format("geometric mean of the {} relative to {}", pivot.figure->name,
                                          markdown_cell(pivot.devices.front()))}};
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
      cells.insert(cells.end(), {readable(mean.ratio, 3), std::to_string(mean.rows)});
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

std::string pivot_text(const Pivot& pivot, const PivotView& view) {
  std::string text = devices_text(pivot, view.width);
  for (const std::string& sentence : pivot.not_compared())
    text += '\n' + wrapped_words(printable(sentence), view.width);
  if (pivot.reports.size() > 1) text += means_text(pivot, view.width);
  if (!pivot.rows.empty()) text += figures_text(pivot, view);
  if (pivot.reports.size() > 1)
    text += '\n' + wrapped_words(hash_totals(compare_hashes(pivot.reports)), view.width);
  return text;
}

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
  if (!pivot.rows.empty()) text += paragraph(shows_time(pivot) ? times_table(pivot) : figures_table(pivot));
  if (const std::string without = rows_without_figure(pivot); !without.empty())
    text += paragraph(without + '\n');
  text += paragraph(accuracy_table(pivot));
  if (pivot.reports.size() > 1) text += paragraph(hash_totals(compare_hashes(pivot.reports)));
  return text;
}

}  // namespace assay
