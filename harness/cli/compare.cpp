#include "harness/report/compare/compare.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/cli/commands.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/record/checked_journal.h"
#include "harness/report/record/find_rows.h"

#include <algorithm>
#include <iostream>
#include <set>

namespace assay::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

struct Sides {
  Paths base, next;
};

Sides sides_of(const CompareRunsOptions& options) {
  if (options.runs.empty() && !options.base.empty() && !options.next.empty())
    return {options.base, options.next};
  if (options.runs.size() == 2 && options.base.empty() && options.next.empty())
    return {{options.runs[0]}, {options.runs[1]}};
  throw Error("comparing runs: name two reports, BASE NEW, or any number of each side with --base and --new");
}

// A journal that cannot be read at all leaves nothing to compare: that is the caller's matter, not the
// machine's.
RunReport read(const std::filesystem::path& journal) try {
  return read_checked_journal(journal);
} catch (const Error& error) {
  throw Error("comparing runs: " + std::string(error.what()), ExitCode::Usage);
}

std::vector<RunReport> read_side(const Paths& paths) {
  std::vector<RunReport> reports;
  for (const std::filesystem::path& path : paths) {
    for (const std::filesystem::path& journal : find_journals(path)) {
      const RunReport& report = reports.emplace_back(read(journal));
      if (report.complete) continue;
      std::cerr << "warning: " << journal.string()
                << (report.cut_off ? ": the journal's last line was cut off"
                                   : ": the run did not come to its end")
                << "; what it lacks is GONE or NEW here\n";
    }
  }
  return reports;
}

std::string verdict_names() {
  std::string names = "none";
  for (int i = 0; i < verdict_count; ++i) {
    names += ", ";
    for (const char c : name_of(static_cast<Verdict>(i))) names += static_cast<char>(c - 'A' + 'a');
  }
  return names;
}

std::set<Verdict> failing_verdicts(const std::string& list) {
  std::set<Verdict> verdicts;
  if (list == "none") return verdicts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const std::optional<Verdict> verdict = parse_verdict(name);
    if (!verdict) throw Error("--fail-on: '" + name + "' is no verdict; there are " + verdict_names());
    verdicts.insert(*verdict);
    begin = end + 1;
  }
  return verdicts;
}

void write(const std::filesystem::path& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << text;
  } else {
    replace_file(path, text);
  }
}

std::string listed(const std::vector<std::string>& ids) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), most); ++i) text += "\n  " + printable(ids[i]);
  if (ids.size() > most) text += "\n  and " + std::to_string(ids.size() - most) + " more";
  return text;
}

// All rows of one id: both modes, hot and cold, every device.
std::string explain_id(const RunComparison& comparison, const std::string& wanted) {
  RunReport ids;
  for (const RowVerdict& row : comparison.rows) ids.records.push_back({.info = row.info});
  const std::vector<std::string> matching = matching_ids(ids, wanted, glob_matches);
  const std::string looking = "looking for '" + wanted + "' in the comparison: ";
  if (matching.empty())
    throw Error(looking + "no id matches; the nearest are" + listed(nearest_ids(ids, wanted, 5)));
  if (matching.size() > 1) {
    throw Error(looking + std::to_string(matching.size()) +
                " ids match; name one of them:" + listed(matching));
  }
  std::string text;
  for (const RowVerdict& row : comparison.rows) {
    if (row.info.id != matching.front()) continue;
    text += (text.empty() ? "" : "\n") + explain(row, console_options(false).color);
  }
  return text;
}

void print(const RunComparison& comparison, const CompareRunsOptions& options) {
  write(options.csv, compare_csv(comparison));
  write(options.json, compare_json(comparison));
  write(options.markdown, compare_markdown(comparison));
  if (!options.explain.empty()) {
    std::cout << explain_id(comparison, options.explain);
  } else if (options.csv != "-" && options.json != "-" && options.markdown != "-") {
    std::cout << compare_text(comparison, {.color = console_options(false).color, .all = options.all});
  }
}

}  // namespace

int compare(const CompareRunsOptions& options) {
  const std::set<Verdict> failing = failing_verdicts(options.fail_on);
  const Sides sides = sides_of(options);
  const std::vector<RunReport> base = read_side(sides.base), next = read_side(sides.next);
  const RunComparison comparison = compare_runs(base, next,
                                                {.judge_same_programs = options.judge_same_programs,
                                                 .smallest_effect_pct = options.smallest_effect_pct});
  print(comparison, options);
  const bool failed = std::ranges::any_of(
      comparison.rows, [&](const RowVerdict& row) { return row.verdict && failing.contains(*row.verdict); });
  return static_cast<int>(failed ? ExitCode::Failures : ExitCode::Fine);
}

}  // namespace assay::cli
