#include "harness/cli/commands.h"
#include "harness/report/console.h"
#include "harness/report/exit_code.h"
#include "harness/report/journal.h"
#include "harness/report/writers.h"

#include <iostream>

namespace assay::cli {
int report(const std::filesystem::path& folder) {
  const RunReport report = read_journal(folder / "journal.jsonl");
  write_reports(folder, report);
  Console console(std::cout, std::cerr, console_options(false));
  console.summary(report, folder);
  return static_cast<int>(exit_code(report));
}

}  // namespace assay::cli
