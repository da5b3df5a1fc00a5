#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// The commands that read reports: report, show, pivot, summary.

namespace assay::app {

struct ReportOptions {
  std::filesystem::path report;             ///< as journals_of() takes it
  std::filesystem::path rewritten_journal;  ///< of the one report there must be then; empty: none is written
  bool benchmark_console = false;
  std::filesystem::path github_summary;  ///< file to append to; empty: none
  bool salvage = false;                  ///< read around damaged lines, and say which
};

/// Writes every report of each device again from its journal and prints the summary.
ExitCode report(const ReportOptions& options, const Terminal& terminal);

/// Prints the summary of a run, then, when asked, its times in Google Benchmark's own words.
void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console);

/// How many rows a question that asks for some is answered with.
inline constexpr std::size_t rows_of_an_answer = 10;

struct ShowOptions {
  std::filesystem::path report;  ///< as journals_of() takes it, of one device unless a question is asked
  std::string id;  ///< an id, a glob over ids, or a part of one; a question is of all that match
  bool samples = false;
  // Questions, and the rows that they are of.
  std::optional<std::size_t> worst, slowest, furthest_from_ceiling;  ///< how many rows; absent: not asked
  std::string group;             ///< what to count rows by; empty: not asked
  std::vector<std::string> ops;  ///< names or globs; empty: all

  bool asks() const { return worst || slowest || furthest_from_ceiling || !group.empty(); }
};

/// Prints everything that a report knows of one id, or the answers to questions about its rows. Throws
/// Error(Usage) where there is neither an id nor a question, and where a question is of no row.
ExitCode show(const ShowOptions& options, const Terminal& terminal);

struct PivotOptions {
  std::vector<std::filesystem::path> reports;  ///< as journals_of() takes them
  std::filesystem::path csv;                   ///< file to write; "-": stdout; empty: none
  std::filesystem::path markdown;              ///< likewise
  bool hashes = false;
  bool all = false;  ///< print the rows too that one device alone has
};

/// Prints the reports of several devices side by side, or whether their exact outputs are equal.
ExitCode pivot(const PivotOptions& options, const Terminal& terminal);

struct SummaryOptions {
  std::vector<std::filesystem::path> reports;  ///< as journals_of() takes them
  std::vector<std::string> models;             ///< names or globs; empty: all
  std::filesystem::path csv;                   ///< file to write; "-": stdout; empty: none
  std::filesystem::path markdown;              ///< likewise
  bool layers = false;                         ///< print the layers of each step too
};

/// Prints reports on one screen. Where models, layers or files are asked for: what one step of each model
/// costs, as the sum over its timed layers. Fine where a sum lacks layers too: the text says so. Throws
/// Error(Usage) when no report has a step then, or none of the models asked for.
ExitCode summary(const SummaryOptions& options, const Terminal& terminal);

/// Writes a text where an option says: into the file, to `out` for "-", nowhere when it is empty: it is not
/// made then, as that of a large run takes long.
void write_text(const std::filesystem::path& path, std::ostream& out,
                const std::function<std::string()>& text);

}  // namespace assay::app
