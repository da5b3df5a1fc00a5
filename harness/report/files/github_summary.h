#pragma once

#include "harness/base/status.h"
#include "harness/report/record/run_report.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay {

// What GitHub shows of a job: Markdown that its steps append to the file $GITHUB_STEP_SUMMARY.

/// What GitHub takes of one step, in bytes. It shows nothing of a step that wrote more.
inline constexpr std::size_t github_summary_limit = std::size_t{1} << 20;

/// A row that somebody should look at.
struct SummaryRow {
  std::string id;
  std::string mode;    ///< "accu", "perf", "perf, cold"
  std::string word;    ///< its status, or a verdict of a comparison
  std::string figure;  ///< "12.3 -> 14.5 us, 1.18x"; empty: none
  std::string reason;
  std::string repro;  ///< the line that runs it again; empty: none
};

/// One device of a summary.
struct SummaryDevice {
  std::string title;               ///< its name and driver
  std::string verdict;             ///< in a word; empty: none
  std::vector<std::string> notes;  ///< sentences about the whole
  std::map<Status, std::size_t> statuses;
  std::vector<SummaryRow> failures;
  std::size_t failures_left_out = 0;  ///< that there are besides
  std::vector<SummaryRow> compared;   ///< what is worse than before
  std::size_t compared_left_out = 0;
};

struct GithubSummary {
  std::string title;   ///< what was done: "assay run"
  std::string answer;  ///< in one line; empty: the counts of what is fine, failed and lost
  std::vector<SummaryDevice> devices;
};

/// A row as the tables show it.
SummaryRow summary_row(const RowInfo& info, Status status, const std::string& reason,
                       const std::string& repro);

/// A device's report.
SummaryDevice summary_device(const RunReport& report);

/// As Markdown: a heading, a table of statuses by device, then each device's failures, at most 50, and what
/// is worse, at most 50, with the counts of what is left out. At most `limit` bytes, of which the last line
/// says how many devices and rows were left out for that. Text of any origin is escaped.
std::string github_markdown(const GithubSummary& summary, std::size_t limit = github_summary_limit);

/// Appends a summary to a file, so that the file stays within what GitHub takes; nothing where `file` is
/// empty. Throws Error(Infrastructure).
void append_github_summary(const std::filesystem::path& file, const GithubSummary& summary);

}  // namespace assay
