#include "harness/app/compare.h"
#include "harness/app/merge.h"
#include "harness/app/new_op.h"
#include "harness/app/page.h"
#include "harness/app/prune.h"
#include "harness/app/report.h"
#include "harness/app/verdict.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/report/console/answers.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <set>
#include <sstream>

namespace assay::cli {
namespace {

/// Everything that options are parsed into, and what was chosen.
struct Parsed {
  app::RunOptions run;
  app::JudgeOptions judge;
  ListOptions list;
  OpsOptions ops;
  DevicesOptions devices;
  app::NewOpOptions new_op;
  app::MergeOptions merge;
  app::ReportOptions report;
  app::ShowOptions show;
  app::PivotOptions pivot;
  app::SummaryOptions summary;
  app::PageOptions page;
  app::CompareOptions compare;
  app::VerdictOptions verdict;
  app::PruneOptions prune;
  std::function<int()> chosen;
};

void add_case_options(CLI::App& app, app::CaseOptions& options) {
  app.add_option("files", options.files,
                 "Case files or folders of them (default: cases/ here, else the one beside the binary)");
  app.add_option("--filter", options.filter,
                 "Ids to select: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest");
  app.add_option("--impl", options.impls, "Impls to select (names or globs; repeatable)");
  app.add_option("--op", options.ops, "Ops to select (names or globs; repeatable)");
  app.add_option("--tier", options.tiers, "Tiers to select (repeatable; default: all)")
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}));
  app.add_option("--mode", options.mode, "Select accuracy rows or performance rows only")
      ->check(CLI::IsMember({"accu", "perf"}));
  app.add_option("--shard", options.shard,
                 "I/N: the I-th of N parts of the rows; rows that share data stay together (default: what "
                 "GTEST_SHARD_INDEX, TEST_SHARD_INDEX or CI_NODE_INDEX and their totals say, else all)");
  app.add_option("--balance", options.balance,
                 "A report by whose times the parts are made equally long; the same for all of them");
  app.add_option("--seed", options.seed, "Seed of the input data, for cases that do not set their own");
}

void add_benchmark_flag(CLI::App& app, bool& flag) {
  app.add_flag("--benchmark", flag, "Also print the times in Google Benchmark's console format");
}

CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file) {
  return app.add_option("--github-summary", file,
                        "Append a summary in Markdown to this file, as $GITHUB_STEP_SUMMARY wants it");
}

/// An option that has a new name: the old one is refused, and the message names the new one.
void add_renamed(CLI::App& app, const std::string& old_name, const std::string& new_name) {
  app.add_option_function<std::string>(old_name,
                                       [=](const std::string&) {
                                         throw CLI::ValidationError(old_name,
                                                                    "this option is now called " + new_name);
                                       })
      ->group("");  // not in the help
}

void add_device_choice(CLI::App& app, app::RunOptions& options) {
  app.add_option(
      "--device", options.devices,
      "Device to run on: index, UUID or part of the name; repeatable, or 'all' (default: the best)");
  app.add_option("--expect-device", options.expect_device,
                 "Refuse to run on a device whose name does not match this regular expression");
}

void add_comparisons(CLI::App& app, app::RunOptions& options) {
  app.add_option("--shaders", options.shaders, "Folder of GLSL files to use instead of the embedded ones")
      ->check(CLI::ExistingDirectory);
  CLI::Option* versus =
      app.add_option("--versus-shaders", options.versus_shaders,
                     "Run every row with the GLSL files of this folder as well, and compare the times")
          ->check(CLI::ExistingDirectory);
  app.add_flag("--versus-alone", options.versus_alone,
               "Of the rows with the first shaders, run only those whose times the others are compared with")
      ->needs(versus);
  app.add_option(
      "--baseline-impl", options.baseline_impl,
      "Compare the time of every other impl with the time of this one (with --versus-alone: that of "
      "every row of --versus-shaders)");
}

/// How rows are kept apart from the run, and how a run goes on that was ended.
void add_isolation(CLI::App& app, app::RunOptions& options) {
  app.add_flag_callback(
      "--no-isolation", [&options] { options.isolation = false; },
      "Run the rows in this process, as debuggers want it: a row that crashes ends the run");
  app.add_option(
      "--worker-command", options.worker_command,
      "Shell command that starts a worker, such as 'ssh HOST assay worker': the devices, case files "
      "and shaders are those that it finds there");
  app.add_option(
      "--resume", options.resume,
      "Go on with the run that this folder holds (an output folder, or that of one run): rows that "
      "have ended stay as they are. The command line is the one that began it");
  app.add_option(
         "--hang-limit", options.hang_limit_s,
         "Seconds of silence after which a worker hangs, whatever it does (default: by what it does, 120 to "
         "300 s; a program on the device: by its case's timeout)")
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs,
                 "Threads for references, of all devices together (default: all of the CPU)")
      ->check(CLI::PositiveNumber);
  app.add_option(
      "--inject-fault", options.injected_faults,
      "KIND@GLOB: let the worker crash, hang or lose its device in the rows whose ids match, to check "
      "that the run survives it; repeatable");
}

void add_max_failures(CLI::App& app, int& most) {
  app.add_option("--max-failures", most,
                 "Stop when so many rows have failed: the others are MISSING, and --resume runs them")
      ->check(CLI::PositiveNumber);
}

void add_ceiling_store(CLI::App& app, std::filesystem::path& folder) {
  app.add_option(
      "--ceiling-store", folder,
      "Folder of ceilings for the runs of one night: what is measured is kept there, and what is "
      "there is taken, also where other work disturbed it (default: $XDG_CACHE_HOME/assay/ceilings, "
      "for all runs and without those)");
}

void add_run(CLI::App& app, app::RunOptions& options) {
  add_case_options(app, options.cases);
  add_device_choice(app, options);
  app.add_option(
      "--out", options.out,
      "Folder for the reports: they go to OUT/runs/<run>/<device>/, and OUT/<device> links to the newest "
      "run (default: assay-out; with --watch, --filter, --op, --impl, --mode or case files: "
      "assay-out/scratch)");
  app.add_flag(
      "--overwrite", options.overwrite,
      "Allow an --out that holds a run: the new run goes beside it, and the links move to the new one");
  add_comparisons(app, options);
  app.add_option("--dump", options.dump,
                 "Folder for the tensors of every row as .npy and the SPIR-V of its dispatches as text");
  app.add_option("--budget", options.budget_s, "Sampling budget of a performance row, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--program-limit", options.program_limit_s,
                 "Skip rows whose program takes longer even at the device's own ceilings, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ceilings", options.ceilings,
                 "What the device was measured to reach, which times are held against: 'stored' (measured "
                 "once for this device and driver), 'measure' (measure it now) or 'none'")
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
  add_ceiling_store(app, options.ceiling_store);
  app.add_option("--answer-cache", options.answer_cache,
                 "Folder in which answers of references are kept for later runs, or 'none' (default: "
                 "$XDG_CACHE_HOME/assay/answers; a build of changed files keeps none)");
  app.add_option(
         "--inject-slowdown", options.injected_slowdown_pct,
         "Add this percentage of extra work (at least one dispatch) to every timed program, to check that "
         "compare finds a slowdown")
      ->check(CLI::Range(0.0, 1000.0));
  add_renamed(app, "--handicap", "--inject-slowdown");
  app.add_option(
      "--secret-seed", options.secret_seed,
      "Seed of further data on which timed rows must be right, which no shader can know (default: drawn "
      "anew for each run and told in run.json; 0: no such data)");
  add_isolation(app, options);
  add_max_failures(app, options.max_failures);
  app.add_flag("--validation", options.validation,
               "Turn on the Khronos validation layer; any message of it fails the case");
  app.add_flag("--robust-access", options.robust_access,
               "Have the device check each access of shaders, so that they reach nothing past what is bound: "
               "for shaders by somebody else. Times are those of such a device");
  app.add_flag("--strict", options.strict,
               "Fail when a rule of the device's expectations is expired or stale (an unexpected pass always "
               "fails)");
  CLI::Option* watch = app.add_flag(
      "--watch", options.watch,
      "Run again whenever a case file or a file in the shader folders is saved, and print what changed");
  add_github_summary(app, options.github_summary)->excludes(watch);
  add_benchmark_flag(app, options.benchmark_console);
  app.add_flag("-v,--verbose", options.verbose, "Print a line for every case, and every failure in full");
}

void add_judged_rows(CLI::App& app, app::JudgeOptions& options) {
  CLI::Option* ops = app.add_option(
      "--op", options.ops,
      "Ops to judge by (names or globs; repeatable; default: all that the shaders matter for)");
  app.add_option(
         "--filter", options.filter,
         "Ids to judge by: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest, of every tier and size")
      ->excludes(ops);
  app.add_option("--cases", options.cases, "Case files or folders of them; repeatable (default: as `run`)");
  app.add_option("--rows", options.rows, "At most so many rows of each stage; of more, some are drawn")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--secret-seed", options.secret_seed,
                 "Seed of the data that no shader can know (default: drawn anew)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
  app.add_option("--draw-seed", options.draw_seed,
                 "Seed of the fuzzed shapes and of which rows are drawn (default: drawn anew)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
}

void add_judge_limits(CLI::App& app, app::JudgeOptions& options) {
  app.add_option("--budget", options.budget_s, "Sampling budget of a timed row, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit_s,
                 "Seconds after which no further row begins: the verdict is incomplete then")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--hang-limit", options.hang_limit_s, "Seconds of silence after which the worker is killed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--memory-limit", options.memory_limit_gib,
                 "GiB of memory that the worker may take for data; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--ceilings", options.ceilings, "As `run`; with 'none' no time can be SUSPECT for its speed")
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
}

void add_judge(CLI::App& app, app::JudgeOptions& options) {
  app.add_option("submission", options.submission,
                 "Folder of GLSL files, named as below shaders/ of the source tree: those that differ from "
                 "assay's own are judged")
      ->required();
  CLI::Option* baseline =
      app.add_option("--baseline", options.baseline,
                     "Folder of GLSL files whose times it is held against (default: assay's own shaders)")
          ->check(CLI::ExistingDirectory);
  app.add_option("--baseline-impl", options.baseline_impl,
                 "Hold the times against this impl with assay's own shaders")
      ->excludes(baseline);
  app.add_option("--json", options.json,
                 "Write the verdict as JSON to this file; '-': to stdout, and nothing else (docs/judge.md)");
  app.add_option("--out", options.out, "Folder for all that is written: OUT/<id>/, judge.json among it")
      ->capture_default_str();
  app.add_option("--device", options.device, "Index, UUID or part of the name (default: the best)");
  add_judged_rows(app, options);
  add_judge_limits(app, options);
  app.add_flag("-v,--verbose", options.verbose, "Also print what its runs tell");
  app.footer(
      "Exit code: 0 right in all rows, timed and trusted; 1 not: wrong, distrusted or incomplete, a shader "
      "that "
      "does not compile too; 2 what is to be judged cannot be: no such folder, no shader in it that a "
      "selected "
      "case runs, nothing selected; 3 the machine failed, 77 no Vulkan device.");
}

/// A run that is gone on with has its command line already: only how it is run may be said anew.
void refuse_others_beside_resume(CLI::App& app) {
  const std::set<std::string> allowed{"--help", "--resume", "--no-isolation", "--worker-command",
                                      "--verbose"};
  CLI::Option* resume = app.get_option("--resume");
  for (CLI::Option* option : app.get_options()) {
    if (!allowed.contains(option->get_name())) resume->excludes(option);
  }
}

void add_devices(CLI::App& app, DevicesOptions& options) {
  app.add_option("--device", options.devices, "Index, UUID or part of the name; repeatable (default: all)");
  app.add_flag(
      "--ceilings", options.ceilings,
      "Measure the ceilings of each device (bandwidth by footprint, arithmetic, dispatch spacing) and "
      "store them");
  add_ceiling_store(app, options.ceiling_store);
  app.add_flag(
         "--json", options.json,
         "Print index, name, folder of reports (slug), UUID and driver of each as JSON, a line a device")
      ->excludes("--ceilings");
}

constexpr const char* report_help =
    "An output folder (the newest run of each device), the folder of a run or of a device, or a "
    "journal.jsonl";

void add_report(CLI::App& app, app::ReportOptions& options) {
  app.add_option("report", options.report, report_help)->required()->check(CLI::ExistingPath);
  CLI::Option* rewrite = app.add_option(
      "--rewrite-journal", options.rewritten_journal,
      "Write the journal in this version's schema to this file, compressed if it ends in .zst");
  app.add_flag("--salvage", options.salvage,
               "Read around damaged lines of the journal and say which: rows that they tell of are MISSING")
      ->excludes(rewrite);
  add_github_summary(app, options.github_summary);
  add_benchmark_flag(app, options.benchmark_console);
}

void add_merge(CLI::App& app, app::MergeOptions& options) {
  app.add_option("out", options.out, "Folder for the merged report, as --out of a run")->required();
  app.add_option("shards", options.shards,
                 "Of each shard what was its --out, or its device's folder or journal")
      ->required();
  app.add_flag("--overwrite", options.overwrite, "Allow an OUT that holds a report of the device");
  app.add_flag("--strict", options.strict,
               "Fail when a rule of the device's expectations is expired or stale");
}

/// "--worst", "--worst 5": a question, and how many rows answer it.
void add_question(CLI::App& app, const std::string& name, std::optional<std::size_t>& count,
                  const std::string& help) {
  app.add_option(name, count, help + " (default: " + std::to_string(app::rows_of_an_answer) + ")")
      ->expected(0, 1)
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->type_name("[N]")
      ->default_str(std::to_string(app::rows_of_an_answer));
}

void add_show(CLI::App& app, app::ShowOptions& options) {
  app.add_option("report", options.report, report_help)->required();
  app.add_option("id", options.id,
                 "An id, a glob over ids, or a part of one id; of a question: the rows that it is of");
  add_question(app, "--worst", options.worst, "Print the N rows that failed or spent most of their bound");
  add_question(app, "--slowest", options.slowest, "Print the N rows with the longest times");
  add_question(app, "--furthest-from-ceiling", options.furthest_from_ceiling,
               "Print the N timed rows that reach the least of the ceiling that limits them");
  app.add_option("--group", options.group,
                 "Count the rows by this key: rows, failures, shares of the ceiling; of impls who is fastest")
      ->check(CLI::IsMember(group_keys()));
  app.add_option("--op", options.ops, "The op that a question is of (name or glob; repeatable; default: all)")
      ->allow_extra_args(false);
  app.add_flag("--samples", options.samples, "Also print every raw sample, by block");
}

void add_pivot(CLI::App& app, app::PivotOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  app.add_option("--csv", options.csv, "Write the table of times as CSV to this file (- for stdout)");
  app.add_option("--markdown", options.markdown, "Write the tables as Markdown to this file (- for stdout)");
  app.add_flag("--all", options.all, "Print the rows too that one device alone has");
  app.add_flag("--hashes", options.hashes,
               "Compare the hashes of exact outputs instead; the exit code is 1 when any differ");
}

void add_summary(CLI::App& app, app::SummaryOptions& options) {
  app.add_option("reports", options.reports, report_help)->required();
  app.add_option("--model", options.models,
                 "Print what a step of these models costs, by device (names or globs; repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--layers", options.layers, "Print the layers of each step too");
  app.add_option("--csv", options.csv, "Write the layers of all steps as CSV to this file (- for stdout)");
  app.add_option("--markdown", options.markdown,
                 "Write the steps and their layers as Markdown to this file (- for stdout)");
}

void add_page(CLI::App& app, app::PageOptions& options) {
  app.add_option("out", options.out, "HTML file to write (- for stdout)")->required();
  app.add_option("reports", options.reports,
                 "Output folders (all runs in them), folders of a run or of a device, or journals: of any "
                 "number of devices and nights")
      ->required();
  app.add_option("--base", options.base,
                 "A report that the newest run of each device is compared with (repeatable; default: the run "
                 "before it)")
      ->allow_extra_args(false);
}

void add_compare(CLI::App& app, app::CompareOptions& options) {
  app.add_option("runs", options.runs, std::string("BASE NEW, each: ") + report_help)->expected(0, 2);
  app.add_option("--base", options.base,
                 "A run of the base side (repeatable: the runs of a side are pooled)");
  app.add_option("--new", options.next, "A run of the new side (repeatable: the runs of a side are pooled)");
  app.add_flag("--all", options.all, "Print every row, not only those that are not SAME");
  app.add_flag("--new-and-gone", options.new_and_gone,
               "List the rows that are NEW or GONE too, not only how many there are");
  app.add_option("--explain", options.explain,
                 "Explain how one row was judged (an id, a glob over ids, or a part of one id)");
  app.add_option("--csv", options.csv, "Write every row as CSV to this file (- for stdout)");
  app.add_option("--json", options.json,
                 "Write every row with its blocks as JSON to this file (- for stdout)");
  app.add_option("--markdown", options.markdown,
                 "Write the rows that are not SAME as Markdown to this file (- for stdout)");
  app.add_option("--fail-on", options.fail_on,
                 "Verdicts that make the exit code 1, separated by commas, or 'none'")
      ->capture_default_str();
  app.add_option("--min-effect", options.smallest_effect_pct,
                 "Minimum difference in percent for FASTER or SLOWER")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--judge-same-programs", options.judge_same_programs,
               "Judge rows of the same program as SLOWER or FASTER too, instead of ENVIRONMENT");
  app.add_option(
         "--run-noise", options.run_noise,
         "What two runs of a device differ by, kept by --keep-run-noise or scripts/false_alarms.sh: with "
         "one run a side nothing up to that is claimed (default: nothing up to 3 %)")
      ->check(CLI::ExistingFile);
  app.add_option("--keep-run-noise", options.keep_run_noise,
                 "Add what these two runs differ by in rows of the same program to this file");
}

void add_verdict(CLI::App& app, app::VerdictOptions& options) {
  app.add_option("night", options.night,
                 "The night's folder, which was the --out of its runs: it gets nightly.json and verdict.txt")
      ->required();
  app.add_option("--last-good", options.last_good,
                 "Folder of links to the report of each device in its last good night; those of devices that "
                 "are good are moved to this night (default: last-good beside the night)");
  app.add_flag("--keep-last-good", options.keep_last_good, "Move no link");
  app.add_option(
      "--expect-slug", options.expected,
      "A device that must have a report, by the name of its folder; repeatable. Devices that had a "
      "good night are expected anyway");
  app.add_option("--accept", options.accepted,
                 "What is worse than in the last good night is meant: let this night, if nothing else is "
                 "wrong, become the last good one (name of a device's folder, repeatable, or 'all')");
  app.add_option("--fail-on", options.fail_on,
                 "Verdicts of `compare` that are regressions, separated by commas, or 'none'")
      ->capture_default_str();
  app.add_option("--run-noise", options.run_noise,
                 "What two runs of a device differ by, as for `compare`: nothing up to that is a regression "
                 "(default: "
                 "nothing up to 3 %)")
      ->check(CLI::ExistingFile);
  app.add_flag("--strict", options.strict,
               "Take expired and stale rules of the devices' expectations for failures");
  add_github_summary(app, options.github_summary);
  app.footer(
      "Exit code: 0 every device is good, 1 rows failed or are worse than in the device's last good night, "
      "2 nothing was judged, 3 a report is missing, damaged or not complete, or rows were lost; the first "
      "that applies of 3, 1, 2, 0.");
}

void add_prune(CLI::App& app, app::PruneOptions& options) {
  app.add_option("folder", options.folder, "An output folder, or the folder that holds the nights of a farm")
      ->required();
  app.add_option("--keep", options.keep, "Keep the newest N reports of each device")
      ->check(CLI::PositiveNumber);
  app.add_option("--older-than", options.older_than_days,
                 "Remove only what began more than so many days ago; with --keep, what both allow")
      ->check(CLI::NonNegativeNumber);
  app.add_flag(
      "--shards", options.shards,
      "Remove the shards of nights, but for the newest, where a complete report was merged from them");
  app.add_flag("--dry-run", options.dry_run, "Print what would be removed, and remove nothing");
  app.footer(
      "Never removed: the newest report of each device, what a link below the folder leads to (latest, the "
      "newest run of a device, last-good/...), what a run is writing, and what assay did not make: only "
      "folders runs/<run>/<device>/ with a journal and nothing foreign, and nights that hold nothing but "
      "such, once they were judged. No link is followed. Exit code: 0 done, 2 usage, 3 something could not "
      "be removed.");
}

int code(ExitCode code) {
  return static_cast<int>(code);
}

/// Adds subcommands to an app; a callback remembers which one was chosen.
class Subcommands {
 public:
  Subcommands(CLI::App& app, Parsed& parsed) : app_(app), parsed_(parsed) {}

  CLI::App& add(const char* name, const char* help, std::function<int()> body) {
    CLI::App* command = app_.add_subcommand(name, help);
    command->callback([this, body = std::move(body)] { parsed_.chosen = body; });
    return *command;
  }

 private:
  CLI::App& app_;
  Parsed& parsed_;
};

/// What runs cases, or says what there is to run.
void add_running(Subcommands& commands, Parsed& parsed, const Context& context) {
  CLI::App& run_command = commands.add("run", "Run cases on a device and write its reports",
                                       [&] { return run(parsed.run, context); });
  add_run(run_command, parsed.run);
  refuse_others_beside_resume(run_command);
  add_judge(
      commands.add("judge", "Judge shaders that somebody else has written: right, how fast, to be trusted",
                   [&] { return judge(parsed.judge, context); }),
      parsed.judge);
  CLI::App& list_command = commands.add("list", "Print the ids of the cases that `run` would select",
                                        [&] { return list(parsed.list, context); });
  add_case_options(list_command, parsed.list.cases);
  CLI::Option* details = list_command.add_flag("-l,--long", parsed.list.details,
                                               "Also print mode, tier, file:line, model, and what CONV2D is");
  list_command
      .add_option("--device", parsed.list.device,
                  "Print what CONV2D is with impl auto on this device: index, UUID or part of the name")
      ->needs(details);
  CLI::App& ops_command = commands.add("ops", "Print the ops, or the parameters, impls and files of one op",
                                       [&] { return ops(parsed.ops, context); });
  CLI::Option* op_name = ops_command.add_option("name", parsed.ops.name, "The op to describe");
  ops_command
      .add_flag("--markdown", parsed.ops.markdown,
                "Print the page docs/ops.md; run it at the source tree's root")
      ->excludes(op_name);
  commands.add("schema", "Print the JSON Schema of case files", [&] { return schema(context); });
  CLI::App& new_op =
      commands.add("new-op", "Write the files of a new op, which builds and passes its tests",
                   [&] { return code(app::new_op(parsed.new_op, context.registry, std::cout)); });
  new_op.add_option("name", parsed.new_op.name, "Name of lower-case letters, digits and single underscores")
      ->required();
  new_op.add_option("--dir", parsed.new_op.root, "The source tree")->capture_default_str();
  add_devices(commands.add("devices", "Print the Vulkan devices and what they can do",
                           [&] { return devices(parsed.devices); }),
              parsed.devices);
}

/// What looks after the reports of a farm.
void add_farm(Subcommands& commands, Parsed& parsed, const Context& context) {
  parsed.verdict.version = context.build.version;
  add_verdict(
      commands.add("verdict", "Say of a night whether it is fine, and hold it against the last good one",
                   [&] { return code(app::verdict(parsed.verdict, terminal())); }),
      parsed.verdict);
  add_prune(commands.add("prune", "Remove old runs and nights, and say what is kept and why",
                         [&] { return code(app::prune(parsed.prune, terminal())); }),
            parsed.prune);
}

/// What reads reports.
void add_reading(Subcommands& commands, Parsed& parsed, const Context& context) {
  add_merge(commands.add("merge", "Put the reports of a run's shards together into one",
                         [&] { return code(app::merge(parsed.merge, context, parse_run, terminal())); }),
            parsed.merge);
  add_report(commands.add("report", "Write the reports again from their journal, and print the summary",
                          [&] { return code(app::report(parsed.report, terminal())); }),
             parsed.report);
  add_show(
      commands.add("show",
                   "Print everything that a report knows about one case, or answer a question of its rows",
                   [&] { return code(app::show(parsed.show, terminal())); }),
      parsed.show);
  add_pivot(commands.add("pivot", "Print the reports of several devices side by side",
                         [&] { return code(app::pivot(parsed.pivot, terminal())); }),
            parsed.pivot);
  add_summary(
      commands.add("summary",
                   "Print reports on one screen, or what a step of a model costs as the sum over its layers",
                   [&] { return code(app::summary(parsed.summary, terminal())); }),
      parsed.summary);
  add_page(commands.add("page", "Write one HTML file that shows devices, ops and nights",
                        [&] { return code(app::page(parsed.page, terminal())); }),
           parsed.page);
  add_compare(commands.add("compare", "Compare two runs and judge every row",
                           [&] { return code(app::compare(parsed.compare, terminal())); }),
              parsed.compare);
}

}  // namespace

app::RunOptions parse_run(const std::vector<std::string>& command) {
  app::RunOptions options;
  CLI::App app{"", "assay"};
  add_run(*app.add_subcommand("run"), options);
  std::vector<std::string> words(command.rbegin(), command.rend());  // as CLI11 takes them
  if (!words.empty()) words.pop_back();
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw Error(std::string("reading the run's command line: ") + error.what());
  }
  return options;
}

std::function<int()> parse(int argc, char** argv, const Context& context) {
  const auto parsed = std::make_shared<Parsed>();
  parsed->run.isolation = true;
  CLI::App app{"assay: is a GPU op right, and how fast is it, on every device you own", "assay"};
  app.set_version_flag("--version", context.build.version);
  app.require_subcommand(1);
  Subcommands commands(app, *parsed);
  add_running(commands, *parsed, context);
  add_reading(commands, *parsed, context);
  add_farm(commands, *parsed, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream errors;
    const int status = app.exit(error, help, errors);
    std::cout << help.str();
    std::cerr << printable(errors.str());  // it quotes arguments
    return [code = status == 0 ? 0 : code(ExitCode::Usage)] { return code; };
  }
  return [parsed] { return parsed->chosen(); };
}

}  // namespace assay::cli
