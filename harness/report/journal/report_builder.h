#pragma once

#include "harness/report/journal/codec.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"
#include "harness/report/record/rows_to_run.h"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace assay {

/// Builds the report from events, live or read back. Both ways pass through the journal's own encoding, so
/// that a report written live and one rebuilt from the journal are equal byte for byte.
class ReportBuilder final : public EventLines {
 public:
  /// Takes an event as a line of the journal. Throws Error that says what is wrong with the line.
  void line(std::string_view line) override;
  /// Takes a line and passes its event to another listener as well, so that the line is parsed only once.
  void line(std::string_view line, RunListener& also);
  /// Notes that the journal's last line was cut off.
  void cut_off() { cut_off_ = true; }
  /// Notes that a line could not be read: from then on, rows with missing events are MISSING.
  void left_out_line() { ++lines_left_out_; }

  /// The report of the run as if it ended now: see record_of.
  RunReport report() const;
  /// The report, at the end of reading: rows become records one by one, so that a large journal is not in
  /// memory twice.
  RunReport take_report() &&;
  /// The record of one row, which must have been planned. It is compared with the rows that have ended so
  /// far.
  Record record(RowIndex row) const;
  const RowInfo& info(RowIndex row) const { return rows_.at(row).info; }
  /// The events of a row so far; the row must have been planned.
  const RowEvents& events(RowIndex row) const { return rows_.at(row); }
  /// The run's circumstances as they are known so far.
  const RunInfo& run() const { return *run_; }
  using EventLines::run;
  /// How many rows were planned.
  std::size_t rows() const { return rows_.size(); }
  /// Whether the run's circumstances are known yet.
  bool has_run() const { return run_.has_value(); }
  /// Whether the run is complete and every line of its journal was read.
  bool is_complete() const { return done_ && !cut_off_ && lines_left_out_ == 0; }
  /// Whether rows were planned.
  bool has_plan() const { return !rows_.empty(); }

 private:
  class Store;
  class Both;

  Decoder decoder_;
  std::optional<RunInfo> run_;
  RunReport report_without_records() const;
  Record record_in_report(const RunInfo& run, RowEvents row) const;
  bool lacks_comparison(RowIndex row) const;
  std::optional<RowIndex> baseline_of(RowIndex row) const;
  ComparedPair pair_of(RowIndex row, std::optional<RowIndex> baseline) const;
  std::vector<ComparedPair> lacking_pairs() const;
  std::optional<double> regret_so_far(const Record& record) const;

  std::deque<RowEvents> rows_;  ///< not a vector, which is copied when it grows
  RowGroups groups_;
  std::optional<RowIndex> timed_;  ///< the row that began last, if it is timed
  bool done_ = false;
  bool cut_off_ = false;
  std::size_t lines_left_out_ = 0;
};

/// A row that was running at this many kills runs alone: before all others, which do not begin meanwhile.
/// Rows that alternate for long are running at many kills from outside that have nothing to do with them.
inline constexpr int kills_before_alone = 2;

struct KilledRow {
  RowIndex row = 0;
  RowEnd end;
};

/// The rows that were running when the run was killed (several with parallel workers), and their ends:
/// INTERRUPTED, and they are run again; or CRASH if the row ran alone (rows_to_run_alone), as it may be what
/// takes the machine down.
std::vector<KilledRow> killed_rows(const ReportBuilder& journal);

/// Unfinished rows that were running at kills_before_alone kills or more, in the order of the plan.
std::vector<RowIndex> rows_to_run_alone(const ReportBuilder& journal);

/// Rows, other than those that run alone, that were running when the run was killed and are run again. One of
/// them may be what kills it: they run one after the other, so that the next kill identifies it.
std::set<RowIndex> suspected_rows(const ReportBuilder& journal);

/// The rows that have no end, were cut short by a stop, or were not reached. `wanted` is never empty if the
/// journal has a plan.
RowsLeft rows_left(const ReportBuilder& journal);

/// Rows that ended with the loss of their worker, and whose second try the run did not reach, with their
/// ends: the resuming run tries them again.
std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal);

}  // namespace assay
