#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One case of mode perf on every device.
struct PivotRow {
  std::vector<const Record*> records;  ///< one a device; null where its report does not have the case
  /// Index of the row of this case's first impl, when the case has other impls or other points of `tune`
  /// besides; else the row's own index.
  std::size_t first_impl = 0;
  bool has_rivals = false;  ///< several rows are of this case: each has a ratio to the first

  /// Of the first device that has it.
  const Record& any() const;
};

/// The geometric mean of the times of one device over those of the first, over the rows that passed on both.
struct PivotMean {
  std::string op;        ///< empty: of all ops
  double ratio = 0;      ///< 0: there is no such row
  std::size_t rows = 0;  ///< that it is of
};

/// Reports of several devices beside each other. Points into the reports that it was made of.
struct Pivot {
  std::span<const RunReport> reports;
  std::vector<std::string> devices;  ///< short names, one a report, no two equal
  std::vector<PivotRow> rows;  ///< in the plan's order of the first report, then what others have besides

  /// Time of the row on a device as a multiple of the first impl's; 0 where there is none.
  double ratio(const PivotRow& row, std::size_t device) const;
  /// Time of the row on a device over that on the first; 0 where one has none.
  double over_first(const PivotRow& row, std::size_t device) const;
  /// Of all rows first, then by op in the order of the rows.
  std::vector<PivotMean> means(std::size_t device) const;
};

/// Lays reports beside each other. Rows meet when id, impl, shape, parameters, forms, tune, fill and cache
/// are all equal (the forms that the case asks for): what was changed between two runs stands in rows of its
/// own.
Pivot make_pivot(std::span<const RunReport> reports);

/// A short name for the device of each run, no two equal: "H200 #1", "H200 #2".
std::vector<std::string> unique_device_names(std::span<const RunInfo> runs);

/// "H100 80GB HBM3" of "NVIDIA H100 80GB HBM3", "llvmpipe" of "llvmpipe (LLVM 15.0.6, 256 bits)".
std::string short_device_name(std::string_view name);

/// Only a case that passed has figures here; perf.csv has those of suspects too.
bool has_figures(const Record* record);

/// The pivot as CSV: the columns of pivot_case_columns(), then for each device those of
/// pivot_device_columns() (columns.h) named "<device>:<column>". RFC 4180.
std::string pivot_csv(const Pivot& pivot);

struct PivotView {
  std::size_t width = 80;  ///< columns of the terminal
  bool all = false;        ///< rows too that one device alone has
};

/// The pivot as a terminal shows it: the devices and their ceilings, how their times compare on the rows that
/// they share, the times of these rows, and how many rows are of one device alone. Every line fits the width
/// but ids, which stand on a line of their own then; devices that do not fit are counted.
std::string pivot_text(const Pivot& pivot, const PivotView& view);

/// The pivot in Markdown: the devices with their ceilings, geometric means over the rows they share, the
/// times, how many accuracy rows ended in which status, and with several devices whether the exact outputs
/// are equal.
std::string pivot_markdown(const Pivot& pivot);

}  // namespace assay
