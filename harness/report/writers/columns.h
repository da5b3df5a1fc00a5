#pragma once

#include "harness/report/writers/column.h"

#include <string>
#include <vector>

namespace assay {

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
