#pragma once

#include "harness/report/record/record.h"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// One column of a CSV report. Columns are defined only here; reports/README.md and the HTML page show the
/// same words.
struct Column {
  std::string name;  ///< with its unit: "time_us_p50"
  std::string unit;  ///< "us", "bytes", "text", ...
  std::string meaning;
  std::function<std::string(const RunInfo&, const Record&)> value;  ///< empty: absent
};

/// The version of the columns of CSV files; raised when one changes its name or meaning. It is not the
/// journal's.
inline constexpr int csv_schema = 4;

std::vector<Column> accu_columns();
std::vector<Column> perf_columns();
/// The columns that later nights need, for rows of both modes.
std::vector<Column> history_columns();

/// The columns of a pivot that describe the case: their values are the same in every report that has it.
std::vector<Column> pivot_case_columns();
/// The columns of a pivot that each device has. Only `ratio_to_first` has no function: it needs two records.
std::vector<Column> pivot_device_columns();

/// The columns as a Markdown table: name, unit, meaning.
std::string markdown_table(const std::vector<Column>& columns);

}  // namespace assay
