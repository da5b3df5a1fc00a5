#include "harness/report/writers/history.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/writers/columns.h"
#include "harness/report/writers/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

namespace assay {
namespace {

using Cells = std::vector<std::string>;

/// The columns that are read, in the order of `Place`.
constexpr std::array names = {"run_id",      "date",         "device",         "device_key",  "driver",
                              "commit",      "case",         "mode",           "cache",       "status",
                              "time_us_p50", "ci_pct",       "err_over_bound", "output_hash", "tune",
                              "program",     "robust_access"};
/// Summaries of older runs do not have the columns from this one on.
constexpr std::string_view first_new = "tune";
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
  RobustAccess
};

/// The positions of these columns in the file, as columns may be added.
using Places = std::array<std::size_t, names.size()>;

Places places_in(const Cells& header) {
  Places places{};
  const auto new_ones = std::ranges::find(names, first_new);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at = std::ranges::find(header, names[i]);
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
          .robust_access = line.text(RobustAccess) == "true"};
}

HistoryRow row_of(const HistoryLine& line) {
  // In a RowKey, rows with a hot cache have an empty cache.
  const std::string cache = line.text(CacheKind) == "cold" ? "cold" : "";
  return {.key = {.id = line.text(Case), .mode = line.text(Mode), .cache = cache},
          .status = line.status(),
          .time_us = line.number(Time),
          .ci_pct = line.number(Interval),
          .err_over_bound = line.number(ErrOverBound),
          .output_hash = line.text(Hash),
          .tune = line.has(Tune) ? std::optional(line.text(Tune)) : std::nullopt,
          .program = line.text(Program)};
}

}  // namespace

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
