#pragma once

#include "harness/report/compare/compare.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct CompareView {
  bool color = false;
  bool all = false;  ///< list every row: also those that are SAME or have no verdict; group none
  bool new_and_gone =
      false;  ///< list rows that are NEW or GONE instead of counting them; `all` lists them too
};

/// The comparison for a terminal: a shift of the machine, the runs of both sides and the differences of their
/// ceilings, the rows that are not SAME, the worst verdict first, BROKEN rows in groups if there are many,
/// how many rows are NEW and GONE, means by op and impl, and the totals.
std::string compare_text(const RunComparison& comparison, const CompareView& view);

/// How a row got its verdict: the blocks of both sides and every condition that was evaluated.
std::string explain(const RowVerdict& row, bool color);

/// A line for each device whose machine shifted: how far, by what, and what that means for the rows.
std::string machines_text(const RunComparison& comparison);

/// "1.13x (1.09 .. 1.18)": the ratio without the machine's shift. Empty: none was taken out.
std::string net_text(const RowVerdict& row);

/// "100.20 -> 210.40 us, 2.1x", and the ratio without the machine's shift. For a row that has a ratio.
std::string times_line(const RowVerdict& row);

/// "1 SLOWER, 3 SAME; 2 rows without a verdict".
std::string totals_line(const RunComparison& comparison);

/// The number of alarms to expect by chance alone, and the assumptions of that number.
std::string chance_text(const RunComparison& comparison);

/// The rows that a view shows: the worst first, those with nothing to compare last.
std::vector<const RowVerdict*> shown_rows(const RunComparison& comparison, const CompareView& view);

/// The rows of shown_rows() that are listed one by one: without those that broken_groups() groups.
std::vector<const RowVerdict*> listed_rows(const RunComparison& comparison, const CompareView& view);

/// How many rows are NEW and GONE, by op, one line each. Empty if there is none.
std::string new_and_gone_text(const RunComparison& comparison);

/// "3 of 12 rows significant", "none of 12 rows significant".
std::string significant_text(const GeometricMean& mean);

/// The ceilings of the runs that differ by more than 5 %, one line each, as shares of the ceiling refer to
/// each run's own. Empty if all agree, and for two devices.
std::string ceilings_text(const RunComparison& comparison);

// Comparisons as files.

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
/// The comparison as the terminal shows it, in Markdown.
std::string compare_markdown(const RunComparison& comparison, const CompareView& view = {});

}  // namespace assay
