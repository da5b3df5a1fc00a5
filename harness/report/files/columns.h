#pragma once

#include "harness/report/record/record.h"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// One column of a CSV report. This table is the only place that knows it; reports/README.md shows the
/// same words.
struct Column {
  std::string name;  ///< with its unit: "time_us_p50"
  std::string unit;  ///< "us", "bytes", "text", ...
  std::string meaning;
  std::function<std::string(const RunInfo&, const Record&)> value;  ///< empty: absent
};

std::vector<Column> accu_columns();
std::vector<Column> perf_columns();
/// What later nights need of this one: a row each of either mode.
std::vector<Column> history_columns();

/// The columns of a pivot: those of the case, whose values are the same in every report that has it, ...
std::vector<Column> pivot_case_columns();
/// ... and those that each device has. Only `ratio` has no function: it is of two records.
std::vector<Column> pivot_device_columns();

/// The columns as a Markdown table: name, unit, meaning.
std::string markdown_table(const std::vector<Column>& columns);

}  // namespace assay
