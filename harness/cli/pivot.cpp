#include "harness/report/files/pivot.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/cli/commands.h"
#include "harness/report/files/hashes.h"
#include "harness/report/record/find_rows.h"
#include "harness/report/record/journal.h"

#include <iostream>

namespace assay::cli {
namespace {

std::vector<RunReport> read_reports(const std::vector<std::filesystem::path>& paths) {
  std::vector<RunReport> reports;
  for (const std::filesystem::path& path : paths) {
    for (const std::filesystem::path& journal : find_journals(path)) reports.push_back(read_journal(journal));
  }
  return reports;
}

void write(const std::filesystem::path& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << text;
  } else {
    replace_file(path, text);
  }
}

int print_hashes(const Pivot& pivot) {
  if (pivot.reports.size() < 2) {
    throw Error("comparing hashes: there is one report; name those of two devices or more");
  }
  const HashComparison comparison = compare_hashes(pivot.reports);
  if (!comparison.compared_any()) {
    throw Error("comparing hashes: the reports have no exact output in common");
  }
  std::cout << hash_differences(comparison, pivot.devices) << hash_totals(comparison);
  return static_cast<int>(comparison.differences.empty() ? ExitCode::Fine : ExitCode::Failures);
}

}  // namespace

int pivot(const PivotOptions& options) {
  const std::vector<RunReport> reports = read_reports(options.reports);
  const Pivot pivot = make_pivot(reports);
  write(options.csv, pivot_csv(pivot));
  const bool nothing_else = options.csv.empty() && !options.hashes;
  write(options.markdown.empty() && nothing_else ? "-" : options.markdown, pivot_markdown(pivot));
  return options.hashes ? print_hashes(pivot) : 0;
}

}  // namespace assay::cli
