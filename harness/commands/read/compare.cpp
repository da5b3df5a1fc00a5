#include "harness/commands/read/compare.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/compare/compare.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/journal/recorded_runs.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

namespace assay::app {
namespace {

using Paths = std::vector<std::filesystem::path>;

struct Sides {
  Paths base, next;
};

Sides sides_of(const CompareOptions& options) {
  if (options.runs.empty() && !options.base.empty() && !options.next.empty())
    return {options.base, options.next};
  if (options.runs.size() == 2 && options.base.empty() && options.next.empty())
    return {{options.runs[0]}, {options.runs[1]}};
  throw Error("comparing runs: give two reports, BASE NEW, or any number per side with --base and --new");
}

// If a journal cannot be read there is nothing to compare: that is a usage error, not one of the machine.
RunReport read(const std::filesystem::path& journal) try {
  return read_checked_journal(journal);
} catch (const Error& error) {
  throw Error("comparing runs: " + std::string(error.what()), ExitCode::Usage);
}

std::vector<RunReport> read_side(const Paths& paths, std::ostream& log) {
  std::vector<RunReport> reports;
  for (const std::filesystem::path& path : paths) {
    for (const std::filesystem::path& journal : journals_of(path)) {
      const RunReport& report = reports.emplace_back(read(journal));
      if (report.complete) continue;
      log << "warning: " << printable(journal.string())
          << (report.cut_off ? ": the journal's last line was cut off" : ": the run did not finish")
          << "; its missing rows are GONE or NEW here\n";
    }
  }
  return reports;
}

// Explains all rows of one id: both modes, hot and cold, every device.
std::string explain_id(const RunComparison& comparison, const std::string& wanted, bool color) {
  RunReport ids;
  for (const RowVerdict& row : comparison.rows) ids.records.push_back({.info = row.info});
  const std::string id = only_id(ids, wanted, "the comparison");
  std::string text;
  for (const RowVerdict& row : comparison.rows) {
    if (row.info.id != id) continue;
    text += (text.empty() ? "" : "\n") + explain(row, color);
  }
  return text;
}

void print(const RunComparison& comparison, const CompareOptions& options, const Terminal& terminal) {
  const bool color = terminal.console.color;
  const CompareView view{.color = color, .all = options.all, .new_and_gone = options.new_and_gone};
  write_text(options.csv, terminal.out, [&] { return compare_csv(comparison); });
  write_text(options.json, terminal.out, [&] { return compare_json(comparison); });
  write_text(options.markdown, terminal.out, [&] { return compare_markdown(comparison, view); });
  if (!options.explain.empty()) {
    terminal.out << explain_id(comparison, options.explain, color);
  } else if (options.csv != "-" && options.json != "-" && options.markdown != "-") {
    terminal.out << compare_text(comparison, view);
  }
}

RunComparison compared(const Sides& sides, const CompareOptions& options, std::ostream& log) {
  PooledRuns base = pool_side(read_side(sides.base, log));  // frees its records before more are read
  PooledRuns next = pool_side(read_side(sides.next, log));
  refuse_run_on_both_sides(base, next);
  return compare_runs(std::move(base), std::move(next),
                      {.judge_same_programs = options.judge_same_programs,
                       .allow_tuning = options.allow_tuning,
                       .smallest_effect_pct = options.smallest_effect_pct,
                       .keep_conditions = !options.explain.empty() || !options.json.empty()},
                      read_run_noise(options.run_noise));
}

void keep_run_noise(const RunComparison& comparison, const std::filesystem::path& file) {
  const std::vector<RunPair> pairs = run_pairs_of(comparison);
  if (pairs.empty()) {
    throw Error(
        "--keep-run-noise: these runs do not show the noise between runs; give one run per side, on one "
        "device, with timed rows of the same programs under the same driver");
  }
  std::vector<RunPair> kept;
  if (std::filesystem::exists(file)) kept = pairs_in(file);
  write_named_file(file, run_noise_csv(with_pairs(std::move(kept), pairs)));
}

}  // namespace

ExitCode compare(const CompareOptions& options, const Terminal& terminal) {
  const std::set<Verdict> failing = parse_verdicts(options.fail_on, "--fail-on");
  const RunComparison comparison = compared(sides_of(options), options, terminal.log);
  print(comparison, options, terminal);
  if (!options.keep_run_noise.empty()) keep_run_noise(comparison, options.keep_run_noise);
  const bool failed = std::ranges::any_of(
      comparison.rows, [&](const RowVerdict& row) { return row.verdict && failing.contains(*row.verdict); });
  return failed ? ExitCode::Failures : ExitCode::Fine;
}

}  // namespace assay::app
