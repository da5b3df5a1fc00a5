#include "harness/report/writers/csv.h"

#include "harness/base/text.h"
#include "harness/report/writers/columns.h"
#include "harness/report/writers/writers.h"

#include <charconv>
#include <functional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay {
namespace {

bool is_number(std::string_view text) {
  if (text == "-inf") return true;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Spreadsheets evaluate text that begins like a formula, no matter who wrote it. Such text gets one
// apostrophe in front, also if it already begins with apostrophes; a reader removes one.
bool looks_like_a_formula(std::string_view text) {
  const std::size_t at = text.find_first_not_of('\'');
  return at != text.npos && std::string_view("=+-@\t\r").find(text[at]) != std::string_view::npos &&
         !is_number(text);
}

// RFC 4180: quoted if needed, quotes doubled. Text with blanks at an end is quoted too, as some readers drop
// them.
std::string cell(const std::string& value) {
  std::string text = printable(value);
  if (looks_like_a_formula(text)) text.insert(0, 1, '\'');
  const bool blank_ends = text.starts_with(' ') || text.ends_with(' ');
  if (!blank_ends && text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

template <class Value>
std::string row(const std::vector<Column>& columns, Value value) {
  std::vector<std::string> cells;
  cells.reserve(columns.size());
  for (const Column& column : columns) cells.push_back(value(column));
  return csv_row(cells);
}

// Every record is in one of the two reports.
bool is_timed_row(const Record& record) {
  return record.info.mode == "perf";
}

template <class Wanted>
void write_csv(const RunReport& report, Wanted is_wanted, const std::vector<Column>& columns,
               std::ostream& out) {
  out << row(columns, [](const Column& column) { return column.name; });
  for (const Record& record : report.records) {
    if (!is_wanted(record)) continue;
    out << row(columns, [&](const Column& column) { return column.value(report.run, record); });
  }
}

}  // namespace

std::string csv_row(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& value : cells) text += (text.empty() ? "" : ",") + cell(value);
  return text + "\r\n";
}

void write_accu_csv(const RunReport& report, std::ostream& out) {
  write_csv(report, std::not_fn(is_timed_row), accu_columns(), out);
}

void write_perf_csv(const RunReport& report, std::ostream& out) {
  write_csv(report, is_timed_row, perf_columns(), out);
}

void write_history_csv(const RunReport& report, std::ostream& out) {
  write_csv(
      report, [](const Record&) { return true; }, history_columns(), out);
}

}  // namespace assay
