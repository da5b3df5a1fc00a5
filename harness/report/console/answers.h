#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Questions that people ask of the rows of a report. Each answer is a sentence that says what is counted, and
// a table that fits a terminal of `width` columns.

using Rows = std::span<const Record* const>;

/// The rows that failed, then those of mode accu that spent most of their bound: at most `count`.
std::string worst_text(Rows rows, std::size_t count, std::size_t width);

/// The rows that passed with the longest times.
std::string slowest_text(Rows rows, std::size_t count, std::size_t width);

/// The rows that passed and reach the least of the ceiling that limits them.
std::string furthest_from_ceiling_text(Rows rows, std::size_t count, std::size_t width);

/// What rows can be counted by: "impl" (of each op), "op", "dtype", "cache", "tier", "model", "layer",
/// "shape", "forms", "status", "limited_by".
std::vector<std::string> group_keys();

/// The rows by a key: how many, how many failed, the largest share of a bound that was spent, how many were
/// timed and their median share of the ceiling. Impls also: the geometric mean of their time over that of the
/// slowest impl of the same case, and in how many of the cases with several impls they are the fastest.
/// Throws Error(Usage) for an unknown key.
std::string grouped_text(Rows rows, const std::string& key, std::size_t width);

}  // namespace assay
