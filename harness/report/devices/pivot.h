#pragma once

#include "harness/report/record/record.h"
#include "harness/report/record/run_kind.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Compares exact outputs, whose hashes must not depend on the device, between several reports.
struct HashComparison {
  struct Difference {
    std::string id;
    bool inputs_differ = false;       ///< the input data already differed
    std::vector<std::string> hashes;  ///< one per report; empty if it has none
  };

  std::size_t reports = 0;
  std::size_t equal = 0;                ///< cases with equal hashes in all reports
  std::size_t partial = 0;              ///< cases with equal hashes in some reports, and none in the others
  std::size_t single = 0;               ///< cases in one report only: nothing to compare with
  std::vector<Difference> differences;  ///< in the order of the first report that has them

  /// Whether anything was compared at all.
  bool compared_any() const { return equal + partial + differences.size() > 0; }
};

/// Compares outputs by id. If a case ran in both modes, its accuracy row counts.
HashComparison compare_hashes(std::span<const RunReport> reports);

/// One line of totals, "405 exact outputs equal on 2 devices", with the count of outputs that were not
/// compared.
std::string hash_totals(const HashComparison& comparison);

/// Each difference with the hashes on all devices, which are called `devices`; empty if there is none.
std::string hash_differences(const HashComparison& comparison, std::span<const std::string> devices);

/// What a pivot compares: a column of perf.csv.
struct PivotFigure {
  std::string_view column;             ///< "energy_j"
  std::string_view name;               ///< in sentences: "energy"
  std::string_view unit;               ///< "J"
  double (*value)(const PerfResult&);  ///< 0: absent
  bool is_of_energy = false;           ///< of a window of --energy
};

/// The figures that a pivot can compare; the first is the time.
std::span<const PivotFigure> pivot_figures();
/// The figure of a column; throws Error(Usage) if no pivot compares it.
const PivotFigure& pivot_figure(std::string_view column);

/// One case of mode perf on every device.
struct PivotRow {
  std::vector<const Record*> records;  ///< one per device; null if its report does not have the case
  /// Index of the row of this case's first impl, if the case has several impls or points of `tune`; else the
  /// row's own index.
  std::size_t first_impl = 0;
  RunKind kind;             ///< of its runs: those of other kinds have a row of their own
  bool has_rivals = false;  ///< the case has several rows: each has a ratio to the first

  /// The record of the first device that has the row.
  const Record& any() const;
};

/// The geometric mean of a device's figures divided by the first device's, over the rows that passed on both
/// and have the figure.
struct PivotMean {
  std::string op;        ///< empty: all ops
  double ratio = 0;      ///< 0: there is no such row
  std::size_t rows = 0;  ///< the number of rows in the mean
};

/// Reports of several devices next to each other. Points into these reports.
struct Pivot {
  std::span<const RunReport> reports;
  std::vector<std::string> devices;  ///< short, unique names, one per report
  /// In the plan's order of the first report, then the rows that only others have.
  std::vector<PivotRow> rows;
  const PivotFigure* figure = nullptr;  ///< what is compared

  /// Cases whose tunables differ between devices, so that they have several rows and are not compared.
  std::size_t retuned = 0;

  /// Why times of some devices, or of some rows, are not compared with others, a sentence each.
  std::vector<std::string> not_compared() const;
  /// The row's figure on a device; 0 if there is none, or the row did not pass.
  double value(const PivotRow& row, std::size_t device) const;
  /// The row's figure on a device divided by the first impl's; 0 if there is none.
  double ratio(const PivotRow& row, std::size_t device) const;
  /// The same of its time, whatever the figure is.
  double time_ratio(const PivotRow& row, std::size_t device) const;
  /// The row's figure on a device divided by that on the first device; 0 if one has none, or if they are of
  /// energies that cover different things.
  double over_first(const PivotRow& row, std::size_t device) const;
  /// The mean over all rows first, then the means by op in the order of the rows.
  std::vector<PivotMean> means(std::size_t device) const;
};

/// Puts reports next to each other. Rows are matched if id, impl, shape, parameters, forms (as the case asks
/// for them), tune, fill and cache are all equal, and both runs are of one kind: cases that changed between
/// two runs get separate rows.
Pivot make_pivot(std::span<const RunReport> reports, const PivotFigure& figure = pivot_figures().front());

/// A short, unique name for the device of each run: "H200 #1", "H200 #2".
std::vector<std::string> unique_device_names(std::span<const RunInfo> runs);

/// Shortens such a name to `width` columns, but keeps its number, which alone may tell two devices apart:
/// "H100 80G... #1".
std::string shortened_device_name(std::string_view name, std::size_t width);

/// Whether pivots show the record's figures: only a case that passed has some here; perf.csv also has those
/// of suspects.
bool has_figures(const Record* record);

/// The pivot as CSV, with all figures: the columns of pivot_case_columns(), then for each device the columns
/// of pivot_device_columns() (columns.h), named "<device>:<column>". RFC 4180.
std::string pivot_csv(const Pivot& pivot);

struct PivotView {
  std::size_t width = 80;  ///< columns of the terminal
  bool all = false;        ///< also show rows that only one device has
};

/// The pivot for a terminal: the devices and their ceilings, their relative figures on the rows that they
/// share, the figures of these rows, and how many rows only one device has. If the figure is not the time,
/// rows that have it on no device are counted. Every line fits the width, except long ids, which get a line
/// of their own; devices that do not fit are counted.
std::string pivot_text(const Pivot& pivot, const PivotView& view);

/// The pivot in Markdown: the devices with their ceilings, geometric means over the rows that they share, the
/// figures, the number of accuracy rows by status, and for several devices whether the exact outputs are
/// equal.
std::string pivot_markdown(const Pivot& pivot);

}  // namespace assay
