#include "harness/commands/run_summary.h"

#include "harness/report/writers/writers.h"

#include <ostream>

namespace assay::app {

void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console) {
  console.summary(report, folder);
  if (benchmark_console) out << perf_console(report);
}

}  // namespace assay::app
