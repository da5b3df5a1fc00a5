#include "harness/cli/commands.h"
#include "harness/report/files/writers.h"
#include "harness/report/record/exit_code.h"
#include "harness/report/record/journal.h"

#include <iostream>

namespace assay::cli {

void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console) {
  console.summary(report, folder);
  if (benchmark_console) out << perf_console(report);
}

int report(const ReportOptions& options) {
  const RunReport report = read_journal(options.folder / "journal.jsonl");
  write_reports(options.folder, report);
  Console console(std::cout, std::cerr, console_options(false));
  print_summary(std::cout, console, report, options.folder, options.benchmark_console);
  return static_cast<int>(exit_code(report));
}

}  // namespace assay::cli
