#include "harness/report/devices/pivot.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/devices/hashes.h"

#include <ostream>

namespace assay::app {
namespace {

ExitCode print_hashes(const Pivot& pivot, std::ostream& out) {
  if (pivot.reports.size() < 2) {
    throw Error("comparing hashes: there is only one report; name the reports of two or more devices");
  }
  const HashComparison comparison = compare_hashes(pivot.reports);
  if (!comparison.compared_any()) {
    throw Error("comparing hashes: the reports have no exact output in common");
  }
  out << hash_differences(comparison, pivot.devices) << hash_totals(comparison);
  return comparison.differences.empty() ? ExitCode::Fine : ExitCode::Failures;
}

}  // namespace

ExitCode pivot(const PivotOptions& options, const Terminal& terminal) {
  const std::vector<RunReport> reports = read_reports(options.reports);
  const Pivot pivot = make_pivot(reports);
  write_text(options.csv, terminal.out, [&] { return pivot_csv(pivot); });
  write_text(options.markdown, terminal.out, [&] { return pivot_markdown(pivot); });
  const bool writes_files = !options.csv.empty() || !options.markdown.empty();
  if (!writes_files && !options.hashes)
    terminal.out << pivot_text(pivot, {.width = terminal.console.width, .all = options.all});
  return options.hashes ? print_hashes(pivot, terminal.out) : ExitCode::Fine;
}

}  // namespace assay::app
