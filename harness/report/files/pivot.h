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

/// Reports of several devices beside each other. Points into the reports that it was made of.
struct Pivot {
  std::span<const RunReport> reports;
  std::vector<std::string> devices;  ///< short names, one a report, no two equal
  std::vector<PivotRow> rows;  ///< in the plan's order of the first report, then what others have besides

  /// Time of the row on a device as a multiple of the first impl's; 0 where there is none.
  double ratio(const PivotRow& row, std::size_t device) const;
};

/// Lays reports beside each other. Rows meet when id, impl, shape, parameters, forms, tune, fill and cache
/// are all equal (the forms that the case asks for): what was changed between two runs stands in rows of its
/// own.
Pivot make_pivot(std::span<const RunReport> reports);

/// "H100 80GB HBM3" of "NVIDIA H100 80GB HBM3", "llvmpipe" of "llvmpipe (LLVM 15.0.6, 256 bits)".
std::string short_device_name(std::string_view name);

/// Only a case that passed has figures here; perf.csv has those of suspects too.
bool has_figures(const Record* record);

/// The pivot as CSV: the columns of pivot_case_columns(), then for each device those of
/// pivot_device_columns() (columns.h) named "<device>:<column>". RFC 4180.
std::string pivot_csv(const Pivot& pivot);

/// The pivot in Markdown: the devices, the times, how many accuracy rows ended in which status, and with
/// several devices whether the exact outputs are equal.
std::string pivot_markdown(const Pivot& pivot);

}  // namespace assay
