#pragma once

#include "harness/commands/export/database.h"
#include "harness/report/record/record.h"
#include "harness/report/writers/columns.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// Version of the tables (PRAGMA user_version); raised when a column changes its name or meaning.
inline constexpr int tables_version = 2;

/// A column of a table. Its name is usable in SQL without quotes.
struct SqlColumn {
  std::string name;
  std::string type;     ///< "TEXT", "INTEGER", "REAL" or "NUMERIC"
  std::string unit;     ///< as in Column: "us", "bytes", "text", ...
  std::string meaning;  ///< one line
  std::string rule{};   ///< what follows the type in SQL: "PRIMARY KEY"; may be empty
};

struct SqlTable {
  std::string name;
  std::string meaning;
  std::vector<SqlColumn> columns;
  std::vector<std::string> indexed;  ///< the columns of each index: "key, value"
};

// Most columns are those of the CSV reports (harness/report/writers/columns.h). These are their values; the
// tables have keys before them.
std::vector<Column> columns_of_runs();
std::vector<Column> columns_of_rows();
std::vector<Column> columns_of_times();

/// All tables, in the order in which they can be made: a table refers to earlier ones only.
std::vector<SqlTable> export_tables();

/// SQL that makes the views: `timed_rows` joins runs, rows and times, `newest_runs` chooses runs.
std::string create_views();

/// SQL that makes a table; unit and meaning of each column are comments, which `.schema` shows.
std::string create_statement(const SqlTable& table);
/// SQL that makes the indices of a table.
std::string index_statements(const SqlTable& table);
/// "INSERT INTO runs VALUES (?,?)"
std::string insert_statement(const SqlTable& table);

/// The value of a column of runs, rows or times. An empty text is NULL.
SqlValue value_of(const Column& column, const RunInfo& run, const Record& record);

/// The table's columns as Markdown, for docs/export.md.
std::string markdown_table(const SqlTable& table);

/// Writes reports into the tables of a new SQLite file.
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
