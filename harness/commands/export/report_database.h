#pragma once

#include "harness/commands/export/database.h"
#include "harness/commands/export/new_file.h"
#include "harness/report/record/record.h"
#include "harness/report/writers/columns.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay::app {

/// Writes reports into the tables (tables.h) of a new SQLite file.
class ReportDatabase {
 public:
  /// Throws Error(Usage) if the file exists and may not be replaced, or is no regular file.
  ReportDatabase(const std::filesystem::path& file, bool may_replace);

  void add(const RunReport& report);
  /// Makes the indices and gives the file its name. Without this call there is no file.
  void finish();

 private:
  void insert(const std::string& table, const std::vector<SqlValue>& values);
  void add_ceilings(const Ceilings& ceilings);
  void add_row(const RunInfo& run, const Record& record);
  void add_time(const RunInfo& run, const Record& record);

  NewFile file_;
  Database database_;
  std::map<std::string, Statement> inserts_;  ///< by table
  std::vector<Column> run_columns_, row_columns_, time_columns_;
  std::int64_t run_ = 0;  ///< keys of the newest run and row
  std::int64_t row_ = 0;
};

}  // namespace assay::app
