#include "harness/commands/export/report_database.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/words.h"
#include "harness/commands/export/tables.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The file to write: that which a link points to. Throws Error(Usage).
fs::path writable(const fs::path& file, bool may_replace) {
  std::error_code error;
  if (!fs::exists(file, error)) return file;
  const std::string name = printable_line(file.string());
  if (!fs::is_regular_file(file, error))
    throw Error(fmt::format("writing a database: {} is not a file", name));
  if (!may_replace) throw Error(fmt::format("writing a database: {} exists; --overwrite replaces it", name));
  return fs::canonical(file);
}

SqlValue text_of(const std::string& text) {
  return text.empty() ? SqlValue() : SqlValue(printable(text));
}

void append_values(std::vector<SqlValue>& values, const std::vector<Column>& columns, const RunInfo& run,
                   const Record& record) {
  for (const Column& column : columns) values.push_back(value_of(column, run, record));
}

}  // namespace

ReportDatabase::ReportDatabase(const fs::path& file, bool may_replace)
    : file_(writable(file, may_replace)),
      database_(file_.temporary()),
      run_columns_(columns_of_runs()),
      row_columns_(columns_of_rows()),
      time_columns_(columns_of_times()) {
  // A journal on disk is for files that survive a crash; this one has a temporary name until it is complete.
  database_.execute("PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = ON; BEGIN");
  database_.execute(fmt::format("PRAGMA user_version = {}", tables_version));
  for (const SqlTable& table : export_tables()) {
    database_.execute(create_statement(table));
    inserts_.try_emplace(table.name, database_, insert_statement(table));
  }
  database_.execute(create_views());
}

void ReportDatabase::insert(const std::string& table, const std::vector<SqlValue>& values) {
  inserts_.at(table).run(values);
}

void ReportDatabase::add(const RunReport& report) {
  std::vector<SqlValue> values{++run_, std::int64_t{report.complete}};
  append_values(values, run_columns_, report.run, Record{});
  insert("runs", values);
  add_ceilings(report.run.ceilings);
  for (const Record& record : report.records) add_row(report.run, record);
}

void ReportDatabase::add_ceilings(const Ceilings& ceilings) {
  const auto add = [&](Ceiling ceiling, const std::string& kernel) {
    const double gops = ceilings.gops(ceiling);
    if (gops > 0) insert("ceilings", {run_, std::string(name_of(ceiling)), gops, text_of(kernel)});
  };
  add(Ceiling::Fp32, "");
  add(Ceiling::Fp16, "");
  add(Ceiling::Dot4x8, ceilings.dot4x8_kernel);
  add(Ceiling::CoopInt8, ceilings.coop_int8_kernel);
  add(Ceiling::CoopFp16, ceilings.coop_fp16_kernel);
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    insert("bandwidths", {run_, static_cast<std::int64_t>(point.footprint_bytes), point.copy_gbps,
                          point.read_gbps, point.write_gbps});
  }
}

void ReportDatabase::add_row(const RunInfo& run, const Record& record) {
  std::vector<SqlValue> values{++row_, run_};
  append_values(values, row_columns_, run, record);
  insert("rows", values);
  for (const std::string& word : words_in(record.info.params)) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string value = equals == word.size() ? "" : word.substr(equals + 1);
    insert("params", {row_, text_of(word.substr(0, equals)), text_of(value)});
  }
  if (has_time(record)) add_time(run, record);
}

void ReportDatabase::add_time(const RunInfo& run, const Record& record) {
  std::vector<SqlValue> values{row_};
  append_values(values, time_columns_, run, record);
  insert("times", values);
  std::int64_t position = 0;
  for (const DispatchShare& dispatch : record.perf->dispatches) {
    insert("dispatches",
           {row_, position++, text_of(dispatch.label), text_of(dispatch.role), dispatch.time_us});
  }
}

void ReportDatabase::finish() {
  for (const SqlTable& table : export_tables()) database_.execute(index_statements(table));
  database_.execute("COMMIT");
  file_.keep();
}

}  // namespace assay::app
