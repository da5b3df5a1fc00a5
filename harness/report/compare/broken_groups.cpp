#include "harness/report/compare/broken_groups.h"

#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/writers/markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t most_groups = 20;

bool is_broken(const RowVerdict& row) {
  return row.verdict == Verdict::Broken && row.next && row.next->failure;
}

/// The new side of a row; one that has none was not tried.
RowOutcome outcome_of(const RowVerdict& row) {
  if (!row.next) return {.info = &row.info};
  RowOutcome outcome{.info = &row.info, .status = row.next->status};
  if (is_broken(row)) outcome.failure = row.next->failure;
  return outcome;
}

std::string more_text(const std::vector<FailureGroup>& groups) {
  return groups.size() > most_groups
             ? fmt::format("and {} more kinds of failures\n", groups.size() - most_groups)
             : "";
}

std::string listing_text(const FailureGroup& group) {
  return fmt::format("--all lists each row; `assay show NEW {}` those of the first kind",
                     printable(listing_option(group)));
}

}  // namespace

bool has_broken_groups(const RunComparison& comparison) {
  return std::ranges::count_if(comparison.rows, is_broken) > static_cast<std::ptrdiff_t>(most_single_broken);
}

std::vector<FailureGroup> broken_groups(const RunComparison& comparison) {
  if (!has_broken_groups(comparison)) return {};
  std::vector<RowOutcome> rows;
  for (const RowVerdict& row : comparison.rows) rows.push_back(outcome_of(row));
  return failure_groups(rows);
}

std::string broken_groups_text(const RunComparison& comparison, bool color) {
  const std::vector<FailureGroup> groups = broken_groups(comparison);
  if (groups.empty()) return "";
  const std::string word(name_of(Verdict::Broken)), indent(word.size() + 4, ' ');
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    const FailureGroup& group = groups[i];
    text += "  " + painted(word, ink_of(Verdict::Broken), color) + "  " + printable(group_text(group)) + '\n';
    text += indent + printable(group.example) + '\n';
    if (!group.story.empty()) text += indent + painted(printable(group.story), Ink::Dim, color) + '\n';
  }
  return text + more_text(groups) + "      " + listing_text(groups.front()) + "\n\n";
}

std::string broken_groups_markdown(const RunComparison& comparison) {
  const std::vector<FailureGroup> groups = broken_groups(comparison);
  if (groups.empty()) return "";
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    const FailureGroup& group = groups[i];
    text += fmt::format("- {}: {}, {}{}\n", name_of(Verdict::Broken), markdown_cell(group_text(group)),
                        markdown_cell(group.example),
                        group.story.empty() ? "" : ": " + markdown_cell(group.story));
  }
  return text + more_text(groups);
}

}  // namespace assay
