#include "harness/base/file.h"
#include "harness/cli/commands.h"
#include "harness/report/files/writers.h"
#include "harness/report/record/exit_code.h"
#include "harness/report/record/find_rows.h"
#include "harness/report/record/journal.h"
#include "harness/report/record/journal_text.h"

#include <iostream>

namespace assay::cli {

void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console) {
  console.summary(report, folder);
  if (benchmark_console) out << perf_console(report);
}

int report(const ReportOptions& options) {
  const std::filesystem::path journal = journal_in(options.folder).value_or(options.folder / journal_name);
  const RunReport report = read_journal(journal);
  write_reports(options.folder, report);
  if (!options.rewritten_journal.empty()) {
    const std::string text = rewritten_journal(journal);
    const bool compress = options.rewritten_journal.extension() == ".zst";
    replace_file(options.rewritten_journal, compress ? compressed(text) : text);
  }
  Console console(std::cout, std::cerr, console_options(false));
  print_summary(std::cout, console, report, options.folder, options.benchmark_console);
  return static_cast<int>(exit_code(report));
}

}  // namespace assay::cli
