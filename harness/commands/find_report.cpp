#include "harness/commands/find_report.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/journal/report_builder.h"

#include <algorithm>
#include <map>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += "\n  " + printable(lines[i]);
  if (lines.size() > most) text += "\n  and " + std::to_string(lines.size() - most) + " more";
  return text;
}

/// The journals right below a folder; empty if there are none.
std::vector<fs::path> journals_below(const fs::path& folder) try {
  return find_journals(folder);
} catch (const Error&) {
  return {};
}

/// The newest journal of each device below runs/, for output folders on a file system without links.
std::vector<fs::path> newest_journals(const fs::path& runs) {
  std::map<std::string, fs::path> by_device;  // run ids start with their time: the largest is the newest
  std::error_code error;
  for (fs::directory_iterator run(runs, error), end; !error && run != end; run.increment(error)) {
    for (const fs::path& journal : journals_below(run->path())) {
      fs::path& newest = by_device[journal.parent_path().filename().string()];
      newest = std::max(newest, journal);
    }
  }
  std::vector<fs::path> journals;
  for (const auto& [device, journal] : by_device) journals.push_back(journal);
  return journals;
}

}  // namespace

std::vector<fs::path> journals_of(const fs::path& path) try {
  return find_journals(path);
} catch (const Error& error) {
  std::vector<fs::path> journals = newest_journals(path / "runs");
  if (!journals.empty()) return journals;
  if (!journals_below(path / "scratch").empty()) {
    throw Error(std::string(error.what()) + "; " + (path / "scratch").string() +
                " has the newest run of a selection (--filter, --op, --impl, --mode, case files, --watch)");
  }
  throw;
}

std::vector<RunReport> read_reports(const std::vector<fs::path>& paths) {
  std::vector<RunReport> reports;
  for (const fs::path& path : paths) {
    for (const fs::path& journal : journals_of(path)) reports.push_back(read_checked_journal(journal));
  }
  return reports;
}

fs::path only_journal(const fs::path& path) {
  const std::vector<fs::path> journals = journals_of(path);
  if (journals.size() == 1) return journals.front();
  std::vector<std::string> folders;
  for (const fs::path& journal : journals) folders.push_back(journal.parent_path().string());
  throw Error("reading a report: " + path.string() +
              " holds several devices; name one of them:" + listed(folders));
}

RunInfo run_of_journal(const std::filesystem::path& journal) {
  ReportBuilder builder;
  for_each_line(journal, [&](std::string_view line) {
    if (!builder.has_run()) builder.line(line);
  });
  return builder.report().run;
}

std::string only_id(const RunReport& report, const std::string& wanted, const std::string& place) {
  const std::vector<std::string> ids = matching_ids(report, wanted, glob_matches);
  if (ids.size() == 1) return ids.front();
  const std::string looking = "looking for '" + wanted + "' in " + place + ": ";
  if (ids.empty())
    throw Error(looking + "no id matches; the nearest are" + listed(nearest_ids(report, wanted, 5)));
  throw Error(looking + std::to_string(ids.size()) + " ids match; name one of them:" + listed(ids));
}

}  // namespace assay::app
