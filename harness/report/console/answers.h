#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Answers to questions about the rows of a report. Each is a sentence that says what is shown, and a table
// that fits a terminal of `width` columns.

using Rows = std::span<const Record* const>;

/// At most `count` rows: those that failed, then rows of mode accu with the largest errors relative to their
/// bounds.
std::string worst_text(Rows rows, std::size_t count, std::size_t width);

/// The passing rows with the longest times.
std::string slowest_text(Rows rows, std::size_t count, std::size_t width);

/// The passing rows by the time that they would gain if they reached the ceiling that they are nearer to,
/// times the calls of their layer in a step of its model (RowInfo::calls).
std::string furthest_from_ceiling_text(Rows rows, std::size_t count, std::size_t width);

/// The keys by which rows can be grouped: "impl" (of each op), "op", "dtype", "cache", "tier", "model",
/// "layer", "shape", "forms", "status", "limited_by", "failure" (failed rows by FailureWords::group).
std::vector<std::string> group_keys();

/// The rows grouped by a key: how many there are, how many failed, the largest share of a bound that was
/// spent, how many were timed and their median share of the ceiling. For impls also the geometric mean of
/// their time relative to the slowest impl of the same case, and in how many of the cases with several impls
/// they are the fastest. Throws Error(Usage) for an unknown key.
std::string grouped_text(Rows rows, const std::string& key, std::size_t width);

/// The group of a row by a key. Throws Error(Usage) for an unknown key.
std::string group_of(const Record& row, const std::string& key);

/// Every one of the rows, which are those of one group: status, time or error, and for failures their story.
std::string rows_of_group_text(Rows rows, const std::string& group, std::size_t width);

}  // namespace assay
