#pragma once

#include "harness/report/record/record.h"

#include <functional>
#include <string>

namespace assay {

/// One column of a CSV report. Columns are defined only in this folder; reports/README.md and the HTML page
/// show the same words.
struct Column {
  std::string name;  ///< with its unit: "time_us_p50"
  std::string unit;  ///< "us", "bytes", "text", ...
  std::string meaning;
  std::function<std::string(const RunInfo&, const Record&)> value;  ///< empty: absent
};

/// The version of the columns of CSV files; raised when one changes its name or meaning. It is not the
/// journal's.
inline constexpr int csv_schema = 4;

}  // namespace assay
