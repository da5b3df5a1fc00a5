#pragma once

#include "harness/base/status.h"
#include "harness/report/record/row_key.h"
#include "harness/report/record/run_report.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The summary of a run in its device's folder, from which later reports tell its rows' history.
inline constexpr const char* history_name = "history.csv";

/// Which run of which device a summary is of.
struct HistoryRun {
  std::string run_id;
  std::string date;  ///< when it began, ISO 8601
  std::string device;
  std::string device_key;  ///< device_key() (device_key.h)
  std::string driver;
  std::string commit;
};

/// What a summary tells of one row.
struct HistoryRow {
  RowKey key;
  Status status = Status::Missing;
  std::optional<double> time_us;  ///< median
  std::optional<double> ci_pct;   ///< half width of its interval, of the median
  std::optional<double> err_over_bound;
  std::string output_hash;
};

using HistoryAction = std::function<void(const HistoryRow&)>;

/// Reads the text of a history.csv. Calls `action` with each row. Throws Error that names the line and what
/// is wrong with it: a column that is missing, a word that is no status, a cell that is no number, a row of
/// another run, no row at all.
HistoryRun read_history(std::string_view text, const HistoryAction& action);

/// The same of a report, as if its history.csv were read.
HistoryRun read_history(const RunReport& report, const HistoryAction& action);

}  // namespace assay
