#include "harness/cli/arguments.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <set>

namespace assay::cli {
namespace {

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
  CLI::Option* here = app.add_flag_callback(
      "--no-isolation", [&options] { options.isolation = false; },
      "Run the rows in this process, as debuggers want it: a row that crashes ends the run");
  app.add_option(
         "--workers", options.workers,
         "Worker processes in which accuracy rows run side by side on a CPU device (default: one a core, "
         "at most 8, fewer for few rows). Timed rows run alone, and rows on a GPU in one worker")
      ->check(CLI::Range(1, 64))
      ->excludes(here);
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
  app.add_option("--prepare", options.preparing_threads,
                 "Threads that compile kernels and compute references of rows before it is their turn; 0: "
                 "none (default: one less than --jobs, at least 1; none with --validation)")
      ->check(CLI::Range(0, 1024));
  app.add_option(
      "--inject-fault", options.injected_faults,
      "KIND@GLOB: let the worker crash, hang or lose its device in the rows whose ids match, to check "
      "that the run survives it; repeatable");
}

void add_max_failures(CLI::App& app, int& most) {
  app.add_option("--max-failures", most,
                 "Stop when so many rows have failed: the others are MISSING, and --resume runs them (it may "
                 "set a limit of its own)")
      ->check(CLI::PositiveNumber);
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

}  // namespace

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
  app.get_option("--workers")->excludes(watch);
  add_benchmark_flag(app, options.benchmark_console);
  app.add_flag("-v,--verbose", options.verbose, "Print a line for every case, and every failure in full");
}

void refuse_others_beside_resume(CLI::App& app) {
  const std::set<std::string> allowed{"--help",    "--resume",       "--no-isolation", "--worker-command",
                                      "--workers", "--max-failures", "--verbose"};
  CLI::Option* resume = app.get_option("--resume");
  for (CLI::Option* option : app.get_options()) {
    if (!allowed.contains(option->get_name())) resume->excludes(option);
  }
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

}  // namespace assay::cli
