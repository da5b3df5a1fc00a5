#pragma once

#include "harness/report/compare/row_verdict.h"
#include "harness/report/html/json_columns.h"
#include "harness/report/record/record.h"
#include "harness/report/trend/nights.h"

#include <memory>
#include <span>

namespace assay {

/// One row of a page: its record in the newest run, and its comparison with the base. At least one is set.
struct PageRow {
  const Record* record = nullptr;       ///< null: the newest run does not have it
  const RowVerdict* verdict = nullptr;  ///< null: there is no base

  const RowInfo& info() const { return record ? record->info : verdict->info; }
};

/// The data of charts and tables: columns of figures and words, one entry per row.
class RowFigures {
 public:
  RowFigures();
  ~RowFigures();

  void add(const PageRow& row);
  /// The columns by name.
  Json json() const;

 private:
  struct Columns;
  std::unique_ptr<Columns> columns_;
};

/// The cases of the rows, which all devices share.
class CaseTable {
 public:
  CaseTable();
  ~CaseTable();

  /// The number of the row's case. A case that was changed but kept its id (another group) gets another
  /// number.
  std::size_t number_of(const RowInfo& info);
  Json json() const;

 private:
  struct Columns;
  std::unique_ptr<Columns> columns_;
};

/// Name, unit and meaning of the columns of accu.csv and perf.csv that a page shows for a row.
Json fact_columns();

/// All that is known about a row: the cells of those columns, the failure as `assay show` shows it, the map
/// of its errors, the plan of a chain with the time of each step, and how it got its verdict.
Json facts_of(const RunInfo& run, const PageRow& row);

/// The raw samples of a row in us, by block; null if it has none.
Json samples_of(const Record* record);

/// The history of each row of a device over its nights.
class RowHistory {
 public:
  /// Adds the rows of a track, in the page's order.
  void add(const NightSummaries& nights, const Track& track, std::span<const RowKey> rows);

  /// Returns {"words": statuses, "rows": for each row its columns, with one entry or null per night of its
  /// track} and clears the history. Columns: "t" time in us, "c" its interval in %, "e" err_over_bound (null:
  /// nothing was judged), "s" status (-1: the night does not have the row), "h" number of the output hash; a
  /// column is left out if it has no value.
  Json take();

 private:
  Json rows_ = Json::array();
};

}  // namespace assay
