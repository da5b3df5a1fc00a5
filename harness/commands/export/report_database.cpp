#include "harness/commands/export/report_database.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/export/openmetrics.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

using Columns = std::vector<Column>;
using Names = std::set<std::string>;
namespace fs = std::filesystem;

std::string type_of(const Column& column) {
  static const std::map<std::string, std::string> types{{"text", "TEXT"},        {"hash", "TEXT"},
                                                        {"coordinates", "TEXT"}, {"number", "INTEGER"},
                                                        {"bytes", "INTEGER"},    {"elements", "INTEGER"},
                                                        {"flag", "INTEGER"},     {"s", "INTEGER"},
                                                        {"programs", "INTEGER"}, {"operations", "INTEGER"},
                                                        {"value", "REAL"},       {"ratio", "REAL"},
                                                        {"us", "REAL"},          {"ms", "REAL"},
                                                        {"%", "REAL"},           {"GB/s", "REAL"},
                                                        {"GOP/s", "REAL"},       {"GOP/J", "REAL"},
                                                        {"J", "REAL"},           {"W", "REAL"},
                                                        {"MB", "REAL"}};
  if (column.name == "seed") return "TEXT";                      // may exceed the 63 bits of SQL's integers
  if (column.name == "expected_tie_differences") return "REAL";  // a mean number of elements
  const auto at = types.find(column.unit);
  if (at == types.end()) throw std::logic_error("no type for the unit of column " + column.name);
  return at->second;
}

/// The CSV's name, except for words that SQL reserves.
std::string sql_name(const std::string& name) {
  static const std::map<std::string, std::string> reserved{
      {"case", "id"}, {"group", "group_hash"}, {"commit", "git_commit"}};
  const auto at = reserved.find(name);
  return at == reserved.end() ? name : at->second;
}

Names names_of(const Columns& columns) {
  Names names;
  for (const Column& column : columns) names.insert(column.name);
  return names;
}

Columns without(Columns columns, const Names& names) {
  std::erase_if(columns, [&](const Column& column) { return names.contains(column.name); });
  return columns;
}

Columns named(const Columns& columns, const Names& names) {
  Columns chosen;
  std::ranges::copy_if(columns, std::back_inserter(chosen),
                       [&](const Column& column) { return names.contains(column.name); });
  return chosen;
}

const Names& names_of_run() {
  static const Names names{"schema", "run_id", "device", "device_key", "driver", "commit", "date"};
  return names;
}

std::string positive(double figure) {
  return figure > 0 ? significant(figure, 6) : "";
}

Column of_run(std::string name, std::string unit, std::string meaning,
              std::function<std::string(const RunInfo&)> get) {
  return {std::move(name), std::move(unit), std::move(meaning),
          [get = std::move(get)](const RunInfo& run, const Record&) { return get(run); }};
}

std::string seconds_of(const RunInfo& run) {
  const std::optional<std::int64_t> seconds = unix_seconds(run.started_utc);
  return seconds ? std::to_string(*seconds) : "";
}

std::string shard_of(const ShardInfo& shard) {
  return shard.is_part() ? fmt::format("{}/{}", shard.index, shard.count) : "";
}

Column of_time(std::string name, std::string unit, std::string meaning,
               std::function<std::string(const Record&)> get) {
  return {std::move(name), std::move(unit), std::move(meaning),
          [get = std::move(get)](const RunInfo&, const Record& record) { return get(record); }};
}

std::vector<SqlColumn> with_keys(std::vector<SqlColumn> keys, const Columns& columns) {
  for (const Column& column : columns) {
    keys.push_back({sql_name(column.name), type_of(column), column.unit, column.meaning});
  }
  return keys;
}

SqlColumn run_reference() {
  return {"run", "INTEGER", "key", "the run", "NOT NULL REFERENCES runs"};
}

SqlColumn row_reference(const std::string& rule = "NOT NULL REFERENCES rows") {
  return {"row", "INTEGER", "key", "the row", rule};
}

SqlTable runs_table() {
  return {"runs",
          "one run on one device",
          with_keys({{"run", "INTEGER", "key", "number of the run in this database", "PRIMARY KEY"},
                     {"complete", "INTEGER", "flag", "1: the run ended normally", "NOT NULL"}},
                    columns_of_runs()),
          {"device", "date"}};
}

SqlTable rows_table() {
  return {"rows",
          "one row of a run: a case in one mode, and with one state of the cache",
          with_keys({{"row", "INTEGER", "key", "number of the row in this database", "PRIMARY KEY"},
                     run_reference()},
                    columns_of_rows()),
          {"run", "id", "op"}};
}

SqlTable times_table() {
  return {"times",
          "the time of a row that has one: a wrong kernel has no time",
          with_keys({row_reference("PRIMARY KEY REFERENCES rows")}, columns_of_times()),
          {}};
}

SqlTable dispatches_table() {
  return {"dispatches",
          "the dispatches of a timed program, from a separate pass, whose timestamps cost time",
          {row_reference(),
           {"position", "INTEGER", "number", "place in the program, from 0 on"},
           {"label", "TEXT", "text", "name of the dispatch"},
           {"role", "TEXT", "text", "op, or transition: it only changes the layout"},
           {"time_us", "REAL", "us", "its time"}},
          {"row"}};
}

SqlTable params_table() {
  return {"params",
          "the parameters of a row's op, one by one",
          {row_reference(),
           {"key", "TEXT", "text", "name of the parameter"},
           {"value", "NUMERIC", "value", "its value: a number if it is one, else text"}},
          {"row", "key, value"}};
}

SqlTable ceilings_table() {
  return {"ceilings",
          "rates of operations that were measured in the run; times are compared with them",
          {run_reference(),
           {"ceiling", "TEXT", "text", "fp32, fp16, dot4x8, coop_int8 or coop_fp16"},
           {"gops", "REAL", "GOP/s", "10^9 operations per second, 2 per multiply-add"},
           {"kernel", "TEXT", "text", "the kernel that reached it, if there are several"}},
          {"run"}};
}

SqlTable bandwidths_table() {
  return {"bandwidths",
          "bandwidth that was measured in the run, by the size of the memory",
          {run_reference(),
           {"footprint_bytes", "INTEGER", "bytes", "all memory that is read or written"},
           {"copy_gbps", "REAL", "GB/s", "half read, half written"},
           {"read_gbps", "REAL", "GB/s", "only read"},
           {"write_gbps", "REAL", "GB/s", "only written"}},
          {"run"}};
}

SqlValue integer_of(const std::string& cell, const std::string& column) {
  if (cell == "true" || cell == "false") return std::int64_t{cell == "true"};
  std::int64_t value = 0;
  const char* end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  if (read.ec == std::errc::result_out_of_range) return {};  // SQLite has no such integer
  if (read.ec != std::errc() || read.ptr != end)
    throw std::logic_error("column " + column + " is no integer: " + printable(cell));
  return value;
}

SqlValue number_of(const std::string& cell, const std::string& column) {
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  if (read.ec == std::errc::result_out_of_range) return {};  // too close to zero
  if (read.ec != std::errc() || read.ptr != end)
    throw std::logic_error("column " + column + " is no number: " + printable(cell));
  return value;
}

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

std::vector<Column> columns_of_runs() {
  Columns columns = named(history_columns(), names_of_run());
  columns.push_back(of_run("date_s", "s", "the date in seconds since 1970 (Unix time)", seconds_of));
  columns.push_back(of_run("device_type", "text", "discrete, integrated, virtual, cpu, imported or other",
                           [](const RunInfo& run) { return run.device.type; }));
  columns.push_back(
      of_run("host", "text", "name of the machine", [](const RunInfo& run) { return run.host; }));
  columns.push_back(of_run("os", "text", "its operating system", [](const RunInfo& run) { return run.os; }));
  columns.push_back(
      of_run("version", "text", "version of assay", [](const RunInfo& run) { return run.version; }));
  columns.push_back(of_run("shard", "text", "1/4: the first of four parts of all rows (--shard)",
                           [](const RunInfo& run) { return shard_of(run.shard); }));
  columns.push_back(of_run("robust_access", "flag", "true: the device checked each memory access of shaders",
                           [](const RunInfo& run) { return run.robust_access ? "true" : "false"; }));
  columns.push_back(of_run("validation", "flag", "true: the validation layer was on, which takes time",
                           [](const RunInfo& run) { return run.validation ? "true" : "false"; }));
  columns.push_back(of_run("dispatch_us", "us", "spacing of empty dispatches, measured in the run",
                           [](const RunInfo& run) { return positive(run.ceilings.dispatch_us); }));
  columns.push_back(of_run("cache_bytes", "bytes", "the last-level cache, as the bandwidth shows it",
                           [](const RunInfo& run) {
                             const std::uint64_t bytes = run.ceilings.cache_bytes;
                             return bytes > 0 ? std::to_string(bytes) : "";
                           }));
  return columns;
}

std::vector<Column> columns_of_rows() {
  Columns columns = named(accu_columns(), {"case"});
  const auto add = [&](const Columns& more) { columns.insert(columns.end(), more.begin(), more.end()); };
  add(named(history_columns(), {"mode", "cache", "tuned"}));
  Names others = names_of_run();
  others.insert("case");
  add(without(accu_columns(), others));
  return columns;
}

std::vector<Column> columns_of_times() {
  Names others = names_of_run();
  others.merge(names_of(columns_of_rows()));
  others.erase("output_hash");  // that of the timed outputs
  others.insert("dispatches");  // a table
  Columns columns = without(perf_columns(), others);
  columns.push_back(of_time("pct_peak", "%", "share of the nearer ceiling", [](const Record& r) {
    const double share = percent_of_peak(*r.perf);
    return share > 0 ? fixed(share, 2) : "";
  }));
  columns.push_back(
      of_time("gain_us", "us", "what would be gained at that ceiling: time x calls x (1 - share)",
              [](const Record& r) { return percent_of_peak(*r.perf) > 0 ? fixed(us_to_gain(r), 4) : ""; }));
  return columns;
}

std::vector<SqlTable> export_tables() {
  return {runs_table(),   rows_table(),     times_table(),     dispatches_table(),
          params_table(), ceilings_table(), bandwidths_table()};
}

std::string create_views() {
  return "CREATE VIEW newest_runs AS  -- the newest run of each device\n"
         "  SELECT * FROM runs\n"
         "  WHERE date = (SELECT max(date) FROM runs AS r WHERE r.device_key = runs.device_key);\n"
         "CREATE VIEW timed_rows AS  -- runs, rows and times in one\n"
         "  SELECT runs.*, rows.row, rows.id, rows.cache, rows.op, rows.impl, rows.dtype, rows.shape,\n"
         "    rows.forms, rows.params, rows.tune, rows.tuned, rows.model, rows.layer, rows.calls,\n"
         "    rows.tokens, rows.status, times.time_us_p50, times.ci_pct, times.gbps, times.gops, "
         "times.pct_peak,\n"
         "    times.limited_by, times.gain_us\n"
         "  FROM runs JOIN rows USING (run) JOIN times USING (row);\n";
}

std::string create_statement(const SqlTable& table) {
  std::string sql = fmt::format("CREATE TABLE {} (  -- {}\n", table.name, table.meaning);
  for (const SqlColumn& column : table.columns) {
    const bool is_last = &column == &table.columns.back();
    sql += fmt::format("  {} {}{}{}{}  -- {}: {}\n", column.name, column.type, column.rule.empty() ? "" : " ",
                       column.rule, is_last ? "" : ",", column.unit, column.meaning);
  }
  return sql + ");\n";
}

std::string index_statements(const SqlTable& table) {
  std::string sql;
  for (const std::string& columns : table.indexed) {
    std::string name = table.name + "_by_" + columns;
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    std::ranges::replace(name, ',', '_');
    sql += fmt::format("CREATE INDEX {} ON {} ({});\n", name, table.name, columns);
  }
  return sql;
}

std::string insert_statement(const SqlTable& table) {
  std::string sql = "INSERT INTO " + table.name + " VALUES (?";
  for (std::size_t i = 1; i < table.columns.size(); ++i) sql += ",?";
  return sql + ")";
}

SqlValue value_of(const Column& column, const RunInfo& run, const Record& record) {
  std::string cell = column.value(run, record);
  if (cell.empty()) return {};
  const std::string type = type_of(column);
  if (type == "INTEGER") return integer_of(cell, column.name);
  if (type == "REAL") return number_of(cell, column.name);
  return printable(cell);
}

std::string markdown_table(const SqlTable& table) {
  std::string text = "| column | type | unit | meaning |\n|---|---|---|---|\n";
  for (const SqlColumn& column : table.columns) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", column.name, column.type, column.unit, column.meaning);
  }
  return text;
}

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
