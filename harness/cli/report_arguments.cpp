#include "harness/cli/arguments.h"
#include "harness/report/console/answers.h"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace assay::cli {
namespace {

constexpr const char* report_help =
    "An output folder (the newest run of each device), the folder of a run or of a device, or a "
    "journal.jsonl";

/// Adds a question such as "--worst" or "--worst 5"; the number limits the rows of its answer.
void add_question(CLI::App& app, const std::string& name, std::optional<std::size_t>& count,
                  const std::string& help) {
  app.add_option(name, count, help + " (default: " + std::to_string(app::rows_of_an_answer) + ")")
      ->expected(0, 1)
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->type_name("[N]")
      ->default_str(std::to_string(app::rows_of_an_answer));
}

}  // namespace

void add_report(CLI::App& app, app::ReportOptions& options) {
  app.add_option("report", options.report, report_help)->required()->check(CLI::ExistingPath);
  CLI::Option* rewrite = app.add_option(
      "--rewrite-journal", options.rewritten_journal,
      "Write the journal in this version's schema to this file, compressed if it ends in .zst");
  app.add_flag("--salvage", options.salvage,
               "Skip damaged lines of the journal and list them: their rows are MISSING")
      ->excludes(rewrite);
  add_github_summary(app, options.github_summary);
  add_benchmark_flag(app, options.benchmark_console);
}

void add_merge(CLI::App& app, app::MergeOptions& options) {
  app.add_option("out", options.out, "Folder for the merged report, laid out as a run's --out")->required();
  app.add_option("shards", options.shards, "For each shard its --out, or its device's folder or journal")
      ->required();
  app.add_flag("--overwrite", options.overwrite, "Allow an OUT that holds a report of the device");
  app.add_flag("--strict", options.strict,
               "Fail when a rule of the device's expectations is expired or stale");
}

void add_show(CLI::App& app, app::ShowOptions& options) {
  app.add_option("report", options.report, report_help)->required();
  app.add_option("id", options.id,
                 "An id, a glob over ids, or a part of one id; with a question: the rows it considers");
  add_question(app, "--worst", options.worst,
               "Print the N rows that failed or used most of their error bound");
  add_question(app, "--slowest", options.slowest, "Print the N rows with the longest times");
  add_question(app, "--furthest-from-ceiling", options.furthest_from_ceiling,
               "Print the N timed rows that reach the smallest share of the ceiling that limits them");
  app.add_option("--group", options.group,
                 "Count rows by this key: rows, failures, shares of the ceiling; for impls, how often each "
                 "is fastest")
      ->check(CLI::IsMember(group_keys()));
  app.add_option("--op", options.ops,
                 "The ops that a question considers (name or glob; repeatable; default: all)")
      ->allow_extra_args(false);
  app.add_flag("--samples", options.samples, "Also print every raw sample, by block");
}

void add_pivot(CLI::App& app, app::PivotOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  app.add_option("--csv", options.csv, "Write the table of times as CSV to this file (- for stdout)");
  app.add_option("--markdown", options.markdown, "Write the tables as Markdown to this file (- for stdout)");
  app.add_flag("--all", options.all, "Also print rows that only one device has");
  app.add_flag("--hashes", options.hashes,
               "Compare the hashes of exact outputs instead; the exit code is 1 if any differ");
}

void add_summary(CLI::App& app, app::SummaryOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  app.add_option("--model", options.models,
                 "Print the cost of a step of these models on each device (names or globs; repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--layers", options.layers, "Also print the layers of each step");
  app.add_option("--csv", options.csv, "Write the layers of all steps as CSV to this file (- for stdout)");
  app.add_option("--markdown", options.markdown,
                 "Write the steps and their layers as Markdown to this file (- for stdout)");
}

void add_page(CLI::App& app, app::PageOptions& options) {
  app.add_option("out", options.out, "HTML file to write (- for stdout)")->required();
  app.add_option("reports", options.reports,
                 "Output folders (all runs in them), folders of a run or of a device, or journals, from any "
                 "number of devices and nights")
      ->required();
  app.add_option(
         "--base", options.base,
         "A report to compare the newest run of each device with (repeatable; default: the previous run)")
      ->allow_extra_args(false);
}

void add_compare(CLI::App& app, app::CompareOptions& options) {
  app.add_option("runs", options.runs, std::string("BASE NEW, each: ") + report_help)->expected(0, 2);
  app.add_option("--base", options.base,
                 "A run for the base side (repeatable: the runs of a side are pooled)");
  app.add_option("--new", options.next, "A run for the new side (repeatable: the runs of a side are pooled)");
  app.add_flag("--all", options.all, "Print every row, not only those that are not SAME");
  app.add_flag("--new-and-gone", options.new_and_gone,
               "List the rows that are NEW or GONE too, not only their number");
  app.add_option("--explain", options.explain,
                 "Explain how one row was compared (an id, a glob over ids, or a part of one id)");
  app.add_option("--csv", options.csv, "Write every row as CSV to this file (- for stdout)");
  app.add_option("--json", options.json,
                 "Write every row with its blocks as JSON to this file (- for stdout)");
  app.add_option("--markdown", options.markdown,
                 "Write the rows that are not SAME as Markdown to this file (- for stdout)");
  app.add_option("--fail-on", options.fail_on,
                 "Changes that make the exit code 1, separated by commas, or 'none'")
      ->capture_default_str();
  app.add_option("--min-effect", options.smallest_effect_pct,
                 "Minimum difference in percent for FASTER or SLOWER")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--judge-same-programs", options.judge_same_programs,
               "Allow SLOWER and FASTER for rows of the same program too, instead of ENVIRONMENT");
  app.add_option("--run-noise", options.run_noise,
                 "File of how much two runs of a device differ, written by --keep-run-noise or "
                 "scripts/false_alarms.sh: with one run per side, smaller differences are not FASTER or "
                 "SLOWER (default: up to 3 %)")
      ->check(CLI::ExistingFile);
  app.add_option("--keep-run-noise", options.keep_run_noise,
                 "Add how much these two runs differ in rows of the same program to this file");
}

void add_verdict(CLI::App& app, app::VerdictOptions& options) {
  app.add_option("night", options.night,
                 "The night's folder (the --out of its runs); nightly.json and verdict.txt are written there")
      ->required();
  app.add_option("--last-good", options.last_good,
                 "Folder of links to the report of each device in its last good night; the links of devices "
                 "that are good move to this night (default: last-good next to the night)");
  app.add_flag("--keep-last-good", options.keep_last_good, "Leave the links of --last-good as they are");
  app.add_option("--expect-slug", options.expected,
                 "A device that must have a report, by the name of its folder; repeatable. Devices that had "
                 "a good night are always expected");
  app.add_option("--accept", options.accepted,
                 "Accept that this device is worse than in its last good night: if nothing else is wrong, "
                 "this night becomes its last good one (name of the device's folder, repeatable, or 'all')");
  app.add_option("--fail-on", options.fail_on,
                 "Changes reported by `compare` that count as regressions, separated by commas, or 'none'")
      ->capture_default_str();
  app.add_option("--run-noise", options.run_noise,
                 "File of how much two runs of a device differ, as for `compare`: smaller differences are "
                 "not regressions (default: those up to 3 %)")
      ->check(CLI::ExistingFile);
  app.add_flag("--strict", options.strict,
               "Treat expired and stale rules of the devices' expectations as failures");
  add_github_summary(app, options.github_summary);
  app.footer(
      "Exit code: 0 every device is good; 1 rows failed or are worse than in the device's last good night; 2 "
      "there was nothing to judge; 3 a report is missing, damaged or incomplete, or rows were lost. The "
      "first of 3, 1, 2, 0 that applies.");
}

void add_prune(CLI::App& app, app::PruneOptions& options) {
  app.add_option("folder", options.folder, "An output folder, or the folder that holds the nights of a farm")
      ->required();
  app.add_option("--keep", options.keep, "Keep the newest N reports of each device")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--older-than", options.older_than_days,
         "Remove only reports that began more than N days ago; with --keep, only what both options allow")
      ->check(CLI::NonNegativeNumber);
  app.add_flag(
      "--shards", options.shards,
      "Remove the shards of nights, except the newest night, where a complete report was merged from them");
  app.add_flag("--dry-run", options.dry_run, "Print what would be removed, and remove nothing");
  app.footer(
      "Never removed: the newest report of each device, the target of any link below the folder (latest, a "
      "device's newest run, last-good/...), reports that a run is writing, and files that assay did not "
      "write. Only folders runs/<run>/<device>/ with a journal and no foreign files are removed, and judged "
      "nights that hold nothing else. No link is followed. Exit code: 0 done, 2 usage, 3 something could not "
      "be removed.");
}

}  // namespace assay::cli
