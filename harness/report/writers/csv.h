#pragma once

#include "harness/base/status.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_kind.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One row of an RFC 4180 file with its line end: printable text, quoted if necessary.
std::string csv_row(const std::vector<std::string>& cells);

/// Calls `action` with the cells and the line (from 1) of each row of an RFC 4180 text. Removes the
/// apostrophe that csv_row() puts before a cell that looks like a formula. A last row without line end counts
/// too. Throws Error with the line of a quote that is not closed.
void for_each_csv_row(
    std::string_view text,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& action);

/// The summary of a run in its device folder, from which later reports take the history of rows.
inline constexpr const char* history_name = "history.csv";

/// The run and device that a summary describes.
struct HistoryRun {
  std::string run_id;
  std::string date;  ///< when the run began, ISO 8601
  std::string device;
  std::string device_key;  ///< device_key() (device_name.h)
  std::string driver;
  std::string commit;
  // With either of these, the times are not those of other runs. Both are false also in summaries of old
  // runs.
  bool robust_access = false;  ///< --robust-access
  bool validation = false;     ///< --validation
};

/// The kind of a run in a summary, without a profile (--as-if): that is part of the device's key.
RunKind kind_of_run(const HistoryRun& run);

/// One row of a summary.
struct HistoryRow {
  RowKey key;
  Status status = Status::Missing;
  std::optional<double> time_us;  ///< median
  std::optional<double> ci_pct;   ///< half width of the median's interval, in percent of the median
  std::optional<double> err_over_bound;
  std::string output_hash;
  std::optional<std::string> tune;  ///< all_tunables(); absent: unknown, as in summaries of old runs
  std::string program;              ///< hash of what the device ran; empty: not timed, or unknown
};

using HistoryAction = std::function<void(const HistoryRow&)>;

/// Reads the text of a history.csv and calls `action` with each row. Throws Error that names the line and the
/// cause: a missing column, an unknown status, a cell that is not a number, a row of another run, no row at
/// all.
HistoryRun read_history(std::string_view text, const HistoryAction& action);

/// Calls `action` with each row of a report, as if its history.csv were read.
HistoryRun read_history(const RunReport& report, const HistoryAction& action);

}  // namespace assay
