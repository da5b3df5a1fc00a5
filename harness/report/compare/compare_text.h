#pragma once

#include "harness/report/compare/compare.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct CompareView {
  bool color = false;
  bool all = false;  ///< rows too that are the same or have no verdict
};

/// The comparison as a terminal shows it: the runs of both sides, the rows that are not the same, the worst
/// verdict first, means by op and impl, and the totals.
std::string compare_text(const RunComparison& comparison, const CompareView& view);

/// How a row came to its verdict: the blocks of both sides and every condition that was looked at.
std::string explain(const RowVerdict& row, bool color);

/// "1 SLOWER, 3 SAME; 2 rows without a verdict".
std::string totals_line(const RunComparison& comparison);

/// What is to be expected of chance alone, and what that assumes.
std::string chance_text(const RunComparison& comparison);

/// The rows a view shows, the verdicts that fail a comparison first.
std::vector<const RowVerdict*> shown_rows(const RunComparison& comparison, bool all);

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

std::string compare_csv(const RunComparison& comparison);       ///< every row
std::string compare_json(const RunComparison& comparison);      ///< every row, with the blocks of both sides
std::string compare_markdown(const RunComparison& comparison);  ///< what the terminal shows

}  // namespace assay
