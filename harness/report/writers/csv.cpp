#include "harness/report/writers/csv.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/writers/columns.h"
#include "harness/report/writers/writers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cell(cells[i]);
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

namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  void row(std::vector<std::string>& cells) {
    std::size_t count = 0;
    do {
      if (count == cells.size()) cells.emplace_back();
      cell(cells[count++]);
    } while (take(','));
    cells.resize(count);
    take('\r');
    if (take('\n')) ++line_;
  }

 private:
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void cell(std::string& value) {
    value.clear();
    take('"') ? quoted(value) : plain(value);
    remove_apostrophe(value);
  }

  void plain(std::string& value) {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    value = text_.substr(at_, end - at_);
    at_ = end;
  }

  void quoted(std::string& value) {
    const std::size_t began = line_;
    do {
      const std::size_t end = text_.find('"', at_);
      if (end == text_.npos) throw Error("line " + std::to_string(began) + ": a quote is not closed");
      const std::string_view part = text_.substr(at_, end - at_);
      line_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
      value.append(part);
      at_ = end + 1;
      if (!at_end() && text_[at_] == '"') value += '"';
    } while (take('"'));
  }

  static void remove_apostrophe(std::string& value) {
    if (!value.starts_with('\'')) return;
    const std::size_t at = value.find_first_not_of('\'');
    if (at != value.npos && std::string_view("=+-@\t\r").find(value[at]) != std::string_view::npos)
      value.erase(0, 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

void for_each_csv_row(
    std::string_view text,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& action) {
  CsvReader reader(text);
  std::vector<std::string> cells;
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    reader.row(cells);
    action(cells, line);
  }
}

namespace {

using Cells = std::vector<std::string>;

/// The columns that are read, in the order of `Place`.
constexpr std::array names = {"run_id",       "date",          "device",         "device_key",  "driver",
                              "commit",       "case",          "mode",           "cache",       "status",
                              "time_us_p50",  "ci_pct",        "err_over_bound", "output_hash", "tune",
                              "program_hash", "robust_access", "tuned",          "validation"};
/// Summaries of older runs do not have the columns from this one on.
constexpr std::string_view first_new = "tune";
/// What `program_hash` was called until schema 3 of the columns.
constexpr std::string_view older_program_hash = "program";
constexpr std::size_t absent = static_cast<std::size_t>(-1);
enum Place : std::size_t {
  RunId,
  Date,
  Device,
  DeviceKey,
  Driver,
  Commit,
  Case,
  Mode,
  CacheKind,
  StatusName,
  Time,
  Interval,
  ErrOverBound,
  Hash,
  Tune,
  Program,
  RobustAccess,
  Tuned,
  Validation
};

/// The positions of these columns in the file, as columns may be added.
using Places = std::array<std::size_t, names.size()>;

Places places_in(const Cells& header) {
  Places places{};
  const auto new_ones = std::ranges::find(names, first_new);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto at = std::ranges::find(header, names[i]);
    if (at == header.end() && i == Program) at = std::ranges::find(header, older_program_hash);
    const bool is_required = names.begin() + static_cast<std::ptrdiff_t>(i) < new_ones;
    if (at == header.end() && is_required)
      throw Error(std::string("line 1: there is no column '") + names[i] + "'");
    places[i] = at == header.end() ? absent : static_cast<std::size_t>(at - header.begin());
  }
  return places;
}

/// One row of the file; messages name its line.
class HistoryLine {
 public:
  HistoryLine(const Cells& cells, const Places& places, std::size_t line)
      : cells_(cells), places_(places), line_(line) {
    for (const std::size_t at : places) {
      if (at != absent && cells.size() <= at) fail("it has only " + std::to_string(cells.size()) + " cells");
    }
  }

  bool has(Place place) const { return places_[place] != absent; }
  const std::string& text(Place place) const {
    static const std::string none;
    return has(place) ? cells_[places_[place]] : none;
  }

  std::optional<double> number(Place place) const {
    const std::string& cell = text(place);
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size()) fail("'" + cell + "' is not a number");
    return value;
  }

  Status status() const {
    const std::optional<Status> status = parse_status(text(StatusName));
    if (!status) fail("'" + text(StatusName) + "' is not a status");
    return *status;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error("line " + std::to_string(line_) + ": " + printable(why));
  }

 private:
  const Cells& cells_;
  const Places& places_;
  std::size_t line_;
};

HistoryRun run_of(const HistoryLine& line) {
  return {.run_id = line.text(RunId),
          .date = line.text(Date),
          .device = line.text(Device),
          .device_key = line.text(DeviceKey),
          .driver = line.text(Driver),
          .commit = line.text(Commit),
          .robust_access = line.text(RobustAccess) == "true",
          .validation = line.text(Validation) == "true"};
}

HistoryRow row_of(const HistoryLine& line) {
  // In a RowKey, rows with a hot cache have an empty cache.
  const std::string cache = line.text(CacheKind) == "cold" ? "cold" : "";
  return {
      .key = {.id = line.text(Case), .mode = line.text(Mode), .cache = cache},
      .status = line.status(),
      .time_us = line.number(Time),
      .ci_pct = line.number(Interval),
      .err_over_bound = line.number(ErrOverBound),
      .output_hash = line.text(Hash),
      .tune = line.has(Tune) ? std::optional(all_tunables(line.text(Tune), line.text(Tuned))) : std::nullopt,
      .program = line.text(Program)};
}

}  // namespace

RunKind kind_of_run(const HistoryRun& run) {
  return {.robust_access = run.robust_access, .validation = run.validation};
}

HistoryRun read_history(std::string_view text, const HistoryAction& action) {
  std::optional<Places> places;
  std::optional<HistoryRun> run;
  for_each_csv_row(text, [&](const Cells& cells, std::size_t number) {
    if (!places) {
      places = places_in(cells);
      return;
    }
    const HistoryLine line(cells, *places, number);
    if (!run) run = run_of(line);
    if (line.text(RunId) != run->run_id) line.fail("it belongs to another run than the first row");
    action(row_of(line));
  });
  if (!run) throw Error("it has no row");
  return *run;
}

HistoryRun read_history(const RunReport& report, const HistoryAction& action) {
  const std::vector<Column> columns = history_columns();
  Cells header(columns.size());
  std::ranges::transform(columns, header.begin(), &Column::name);
  const Places places = places_in(header);
  std::optional<HistoryRun> run;
  Cells cells(columns.size());
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      cells[c] = printable(columns[c].value(report.run, report.records[i]));
    const HistoryLine line(cells, places, i + 2);
    if (!run) run = run_of(line);
    action(row_of(line));
  }
  if (!run) throw Error("run " + printable(report.run.run_id) + " has no row");
  return *run;
}

}  // namespace assay
