#pragma once

#include "harness/report/compare/compare.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct CompareView {
  bool color = false;
  bool all = false;           ///< rows too that are the same or have no verdict
  bool new_and_gone = false;  ///< rows too that are NEW or GONE, not only how many; `all` has them too
};

/// The comparison as a terminal shows it: the runs of both sides and what their ceilings differ by, the rows
/// that are not the same, the worst verdict first, how many rows are NEW and GONE, means by op and impl, and
/// the totals.
std::string compare_text(const RunComparison& comparison, const CompareView& view);

/// How a row came to its verdict: the blocks of both sides and every condition that was looked at.
std::string explain(const RowVerdict& row, bool color);

/// "1 SLOWER, 3 SAME; 2 rows without a verdict".
std::string totals_line(const RunComparison& comparison);

/// What is to be expected of chance alone, and what that assumes.
std::string chance_text(const RunComparison& comparison);

/// The rows a view shows: the worst first, those of which there is nothing to compare last.
std::vector<const RowVerdict*> shown_rows(const RunComparison& comparison, const CompareView& view);

/// How many rows are NEW and GONE, by op: a line each. Empty where there is none.
std::string new_and_gone_text(const RunComparison& comparison);

/// "3 of 12 rows significant", "none of 12 rows significant".
std::string significant_text(const GeometricMean& mean);

/// What the ceilings of the runs differ by where it is more than 5 %, a line each: the shares of the ceiling
/// are of each run's own. Empty where they agree, and for two devices.
std::string ceilings_text(const RunComparison& comparison);

// The same in files.

/// A column of the CSV; reports/README.md shows the same words.
struct CompareColumn {
  std::string name;
  std::string unit;
  std::string meaning;
  std::function<std::string(const RowVerdict&)> value;  ///< empty: absent
};
std::vector<CompareColumn> compare_columns();
std::string markdown_table(const std::vector<CompareColumn>& columns);

std::string compare_csv(const RunComparison& comparison);   ///< every row
std::string compare_json(const RunComparison& comparison);  ///< every row, with the blocks of both sides
/// What the terminal shows.
std::string compare_markdown(const RunComparison& comparison, const CompareView& view = {});

}  // namespace assay
