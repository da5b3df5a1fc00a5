#include "harness/commands/read/report.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run_summary.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/exit_code.h"
#include "harness/report/writers/github_summary.h"
#include "harness/report/writers/writers.h"

#include <ostream>

namespace assay::app {
namespace {

/// Writes the journal again, compressed if the file's name ends in .zst.
void rewrite_journal(const std::filesystem::path& journal, const std::filesystem::path& to) {
  const std::string text = rewritten_journal(journal);
  write_named_file(to, to.extension() == ".zst" ? compressed(text) : text);
}

/// The readable part of a damaged journal; lists the lines that are left out on `log`.
RunReport salvaged(const std::filesystem::path& journal, std::ostream& log) {
  SalvagedJournal salvaged = salvage_journal(journal);
  const std::size_t count = salvaged.left_out_count;
  for (const LeftOutLine& line : salvaged.left_out) {
    log << printable(journal.string()) << ':' << line.number << ": left out: " << printable(line.why) << '\n';
  }
  if (count > salvaged.left_out.size()) log << "and " << count - salvaged.left_out.size() << " more lines\n";
  log << printable(journal.string()) << ": " << count << (count == 1 ? " line was" : " lines were")
      << " left out\n";
  return std::move(salvaged.report);
}

}  // namespace

void write_text(const std::filesystem::path& path, std::ostream& out,
                const std::function<std::string()>& text) {
  if (path.empty()) return;
  if (path == "-") {
    out << text();
  } else {
    write_named_file(path, text());
  }
}

ExitCode report(const ReportOptions& options, const Terminal& terminal) {
  if (!options.rewritten_journal.empty())
    rewrite_journal(only_journal(options.report), options.rewritten_journal);
  ExitCode code = ExitCode::Fine;
  GithubSummary summary{.title = "assay report"};
  for (const std::filesystem::path& journal : journals_of(options.report)) {
    const std::filesystem::path folder = journal.parent_path();
    const RunReport report = options.salvage ? salvaged(journal, terminal.log) : read_journal(journal);
    write_reports(folder, report);
    Console console(terminal.out, terminal.log, terminal.console);
    print_summary(terminal.out, console, report, folder, options.benchmark_console);
    if (!options.github_summary.empty()) summary.devices.push_back(summary_device(report));
    code = exit_code_of_both(code, exit_code(report));
  }
  append_github_summary(options.github_summary, summary);
  return code;
}

}  // namespace assay::app
