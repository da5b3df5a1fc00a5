#include "harness/report/console/show.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/cli/commands.h"
#include "harness/report/record/find_rows.h"
#include "harness/report/record/journal.h"

#include <algorithm>
#include <iostream>

namespace assay::cli {
namespace {

constexpr std::size_t most_ids = 20;

std::string listed(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most_ids); ++i) text += "\n  " + printable(lines[i]);
  if (lines.size() > most_ids) text += "\n  and " + std::to_string(lines.size() - most_ids) + " more";
  return text;
}

std::filesystem::path only_journal(const std::filesystem::path& report) {
  const std::vector<std::filesystem::path> journals = find_journals(report);
  if (journals.size() == 1) return journals.front();
  std::vector<std::string> folders;
  for (const auto& journal : journals) folders.push_back(journal.parent_path().string());
  throw Error("reading a report: " + report.string() +
              " holds several devices; name one of them:" + listed(folders));
}

std::string only_id(const RunReport& report, const std::string& wanted) {
  const std::vector<std::string> ids = matching_ids(report, wanted, glob_matches);
  if (ids.size() == 1) return ids.front();
  const std::string looking = "looking for '" + wanted + "' in the report: ";
  if (ids.empty()) {
    throw Error(looking + "no id matches; the nearest are" + listed(nearest_ids(report, wanted, 5)));
  }
  throw Error(looking + std::to_string(ids.size()) + " ids match; name one of them:" + listed(ids));
}

}  // namespace

int show(const ShowOptions& options) {
  const RunReport report = read_journal(only_journal(options.report));
  const std::string id = only_id(report, options.id);
  std::cout << show_text(report.run, rows_of(report, id),
                         {.color = console_options(false).color, .samples = options.samples});
  return 0;
}

}  // namespace assay::cli
