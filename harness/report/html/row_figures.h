#pragma once

#include "harness/report/compare/row_verdict.h"
#include "harness/report/html/json_columns.h"
#include "harness/report/record/record.h"

#include <memory>

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

}  // namespace assay
