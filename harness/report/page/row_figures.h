#pragma once

#include "harness/report/compare/row_verdict.h"
#include "harness/report/page/json_columns.h"
#include "harness/report/record/record.h"

#include <memory>

namespace assay {

/// One row of a page: what the newest run says, and how it was judged against the base. At least one is
/// there.
struct PageRow {
  const Record* record = nullptr;       ///< null: the newest run does not have it
  const RowVerdict* verdict = nullptr;  ///< null: there is no base

  const RowInfo& info() const { return record ? record->info : verdict->info; }
};

/// What pictures and tables are drawn of: columns of figures and words, an entry a row.
class RowFigures {
 public:
  RowFigures();
  ~RowFigures();

  void add(const PageRow& row);
  /// Each column under its name.
  Json json() const;

 private:
  struct Columns;
  std::unique_ptr<Columns> columns_;
};

/// The cases that rows are of: the same on all devices.
class CaseTable {
 public:
  CaseTable();
  ~CaseTable();

  /// The number of the row's case. A case that was changed under its id (another group) is another one.
  std::size_t number_of(const RowInfo& info);
  Json json() const;

 private:
  struct Columns;
  std::unique_ptr<Columns> columns_;
};

}  // namespace assay
