#pragma once

#include "harness/base/status.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A table with aligned columns; the first row is its header. Columns with `right` are right-aligned, short
/// rows are filled with empty cells. Cells are already Markdown.
std::string markdown_aligned(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<bool>& right);

/// Untrusted text as a cell of a Markdown table: printable, on one line, with all markup escaped.
std::string markdown_cell(std::string_view text);

/// Untrusted text as a code span: `a|b` with its pipe escaped.
std::string markdown_code(std::string_view text);

// The summary that GitHub shows for a job: Markdown that the job's steps append to the file
// $GITHUB_STEP_SUMMARY.

/// GitHub's limit for one step, in bytes. It shows nothing of a step that wrote more.
inline constexpr std::size_t github_summary_limit = std::size_t{1} << 20;

/// A row that needs attention.
struct SummaryRow {
  std::string id;
  std::string mode;    ///< "accu", "perf", "perf, cold"
  std::string word;    ///< the row's status, or its change since the run before
  std::string figure;  ///< "12.3 -> 14.5 us, 1.18x"; empty: none
  std::string reason;
  std::string repro;  ///< the command that runs it again; empty: none
};

/// One device of a summary.
struct SummaryDevice {
  std::string title;               ///< the device's name and driver
  std::string verdict;             ///< one word; empty: none
  std::vector<std::string> notes;  ///< sentences about the whole run
  std::map<Status, std::size_t> statuses;
  std::vector<SummaryRow> failures;
  std::size_t failures_left_out = 0;  ///< further failures
  std::vector<SummaryRow> compared;   ///< rows that are worse than before
  std::size_t compared_left_out = 0;
};

struct GithubSummary {
  std::string title;   ///< the command: "assay run"
  std::string answer;  ///< one line; empty: the counts of fine, failed and lost rows
  std::vector<SummaryDevice> devices;
};

/// Makes a row as the tables show it.
SummaryRow summary_row(const RowInfo& info, Status status, const std::string& reason,
                       const std::string& repro);

/// Makes the summary of a device from its report.
SummaryDevice summary_device(const RunReport& report);

/// The summary as Markdown: a heading, a table of statuses by device, then each device's failures and its
/// rows that are worse than before, at most 50 each, with the counts of further rows. If the text would
/// exceed `limit` bytes, its last line says how many devices and rows were left out. All text is escaped.
std::string github_markdown(const GithubSummary& summary, std::size_t limit = github_summary_limit);

/// Appends a summary to a file, and keeps the file within GitHub's limit. Does nothing if `file` is empty.
/// Throws Error(Infrastructure).
void append_github_summary(const std::filesystem::path& file, const GithubSummary& summary);

}  // namespace assay
