#include "harness/commands/export/export.h"

#include "harness/base/text.h"
#include "harness/commands/export/openmetrics.h"
#include "harness/commands/export/report_database.h"
#include "harness/commands/read/report.h"
#include "harness/commands/read/runs_over_time.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/record/device_name.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

namespace assay::app {
namespace {

/// Reads one journal after the other: those of many nights would not fit in memory together.
class Exporter {
 public:
  Exporter(const ExportOptions& options, std::ostream& log)
      : options_(options), left_out_(log, "exporting reports") {
    if (!options.sqlite.empty()) database_.emplace(options.sqlite, options.overwrite);
  }

  void read() {
    for (const std::filesystem::path& journal : all_journals(options_.reports, left_out_)) {
      if (const auto report = left_out_.or_left_out(journal, [&] { return read_checked_journal(journal); }))
        add(*report, journal);
    }
    if (seen_.empty()) left_out_.throw_none_readable();
  }

  void write(std::ostream& out) {
    if (database_) database_->finish();
    const auto times = options_.newest ? OpenMetrics::Times::Newest : OpenMetrics::Times::All;
    write_text(options_.openmetrics, out, [&] { return metrics_.text(times); });
  }

  /// "3 runs, 26784 rows"
  std::string counts() const {
    const auto counted = [](std::size_t count, const char* what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    return counted(seen_.size(), "run") + ", " + counted(rows_, "row");
  }

 private:
  void add(const RunReport& report, const std::filesystem::path& journal) {
    if (!seen_.emplace(report.run.run_id, device_key(report.run)).second) {
      left_out_.warn(fmt::format("{} is left out: its run is there already", journal.string()));
      return;
    }
    rows_ += report.records.size();
    if (database_) database_->add(report);
    if (!options_.openmetrics.empty() && !metrics_.add(report)) {
      left_out_.warn(fmt::format("{} is left out of the metrics: its run has no valid time '{}'",
                                 journal.string(), report.run.started_utc));
    }
  }

  const ExportOptions& options_;
  LeftOut left_out_;
  std::optional<ReportDatabase> database_;
  OpenMetrics metrics_;
  std::set<std::pair<std::string, std::string>> seen_;  ///< runs and devices
  std::size_t rows_ = 0;
};

void check(const ExportOptions& options) {
  if (options.sqlite.empty() && options.openmetrics.empty())
    throw Error("exporting reports: name a file to write, with --sqlite or --openmetrics");
  if (options.sqlite == "-")
    throw Error("exporting reports: a database is not written to stdout; name a file");
  if (std::filesystem::weakly_canonical(options.sqlite) ==
      std::filesystem::weakly_canonical(options.openmetrics)) {
    throw Error("exporting reports: --sqlite and --openmetrics name one file, '" + options.sqlite.string() +
                "'; name two");
  }
}

}  // namespace

ExitCode export_reports(const ExportOptions& options, const Terminal& terminal) {
  check(options);
  Exporter exporter(options, terminal.log);
  exporter.read();
  exporter.write(terminal.out);
  for (const std::filesystem::path& file : {options.sqlite, options.openmetrics}) {
    if (!file.empty() && file != "-")
      terminal.log << printable_line(fmt::format("{}: {}", file.string(), exporter.counts())) << '\n';
  }
  return ExitCode::Fine;
}

}  // namespace assay::app
