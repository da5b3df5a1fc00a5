#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// The commands that read reports: report, show, pivot, summary.

namespace assay::app {

struct ReportOptions {
  std::filesystem::path report;  ///< a path as for journals_of()
  std::filesystem::path
      rewritten_journal;  ///< file for the journal of the only report; empty: none is written
  bool benchmark_console = false;
  std::filesystem::path github_summary;  ///< file to append to; empty: none
  bool salvage = false;                  ///< skip damaged lines, and list them
};

/// Rewrites all reports of each device from its journal and prints the summary.
ExitCode report(const ReportOptions& options, const Terminal& terminal);

/// Default number of rows in the answer to a question.
inline constexpr std::size_t rows_of_an_answer = 10;

struct ShowOptions {
  std::filesystem::path report;  ///< a path as for journals_of(), with one device unless a question is asked
  std::string id;  ///< an id, a glob over ids, or a part of an id; a question covers all matches
  bool samples = false;
  bool dot = false;  ///< print only the plan of a chain, as a Graphviz graph
  // Questions, and options that select their rows.
  std::optional<std::size_t> worst, slowest, furthest_from_ceiling;  ///< number of rows; absent: not asked
  std::string group;             ///< "KEY" by which to group rows, or "KEY=GLOB"; empty: not asked
  std::vector<std::string> ops;  ///< names or globs; empty: all

  bool asks() const { return worst || slowest || furthest_from_ceiling || !group.empty(); }
};

/// Prints everything in a report about one id, or the answers to questions about its rows. Throws
/// Error(Usage) if there is neither an id nor a question, and if a question covers no row.
ExitCode show(const ShowOptions& options, const Terminal& terminal);

struct PivotOptions {
  std::vector<std::filesystem::path> reports;  ///< paths as for journals_of()
  std::filesystem::path csv;                   ///< file to write; "-": stdout; empty: none
  std::filesystem::path markdown;              ///< likewise
  std::string figure = "time_us_p50";          ///< column of pivot_figures() that text and Markdown compare
  bool hashes = false;
  bool all = false;  ///< also print rows that only one device has
};

/// Prints the reports of several devices next to each other, or whether their exact outputs are equal. Throws
/// Error(Usage) if no row has the figure.
ExitCode pivot(const PivotOptions& options, const Terminal& terminal);

struct SummaryOptions {
  std::vector<std::filesystem::path> reports;  ///< paths as for journals_of()
  std::vector<std::string> models;             ///< names or globs; empty: all
  std::filesystem::path csv;                   ///< file to write; "-": stdout; empty: none
  std::filesystem::path markdown;              ///< likewise
  bool layers = false;                         ///< also print the layers of each step
};

/// Prints reports on one screen. If models, layers or files are asked for, prints the time of one step of
/// each model, as the sum over its timed layers. Layers missing from a sum are not an error: the text lists
/// them. Throws Error(Usage) if no report has a step, or a model that was asked for has none.
ExitCode summary(const SummaryOptions& options, const Terminal& terminal);

/// Writes a text to the place that an option names: a file, `out` for "-". If the option is empty, the text
/// is not made, as that takes long for a large run.
void write_text(const std::filesystem::path& path, std::ostream& out,
                const std::function<std::string()>& text);

}  // namespace assay::app
