#include "harness/cli/arguments.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <set>

namespace assay::cli {
namespace {

/// Refuses the old name of an option that was renamed, with a message that names the new one.
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
                 "Refuse a device whose name does not match this regular expression");
}

void add_comparisons(CLI::App& app, app::RunOptions& options) {
  app.add_option("--shaders", options.shaders, "Folder of GLSL files to use instead of the embedded ones")
      ->check(CLI::ExistingDirectory);
  CLI::Option* versus =
      app.add_option("--versus-shaders", options.versus_shaders,
                     "Run every row with the GLSL files in this folder as well, and compare the times")
          ->check(CLI::ExistingDirectory);
  app.add_flag("--versus-alone", options.versus_alone,
               "With the first shaders, run only the rows whose times are needed for the comparison")
      ->needs(versus);
  app.add_option("--baseline-impl", options.baseline_impl,
                 "Compare the time of every other impl (with --versus-alone: of every row of "
                 "--versus-shaders) with the time of this one");
}

/// Adds the options of worker processes and of resuming a run.
void add_isolation(CLI::App& app, app::RunOptions& options) {
  CLI::Option* here = app.add_flag_callback(
      "--no-isolation", [&options] { options.isolation = false; },
      "Run the rows in this process, for debuggers: a row that crashes ends the run");
  app.add_option("--workers", options.workers,
                 "Worker processes that run accuracy rows in parallel on a CPU device (default: one per "
                 "core, at most 8, fewer for few rows). Timed rows run alone, and a GPU has one worker")
      ->check(CLI::Range(1, 64))
      ->excludes(here);
  app.add_option("--worker-command", options.worker_command,
                 "Shell command that starts a worker, such as 'ssh HOST assay worker'; the worker uses the "
                 "devices, case files and shaders of that machine");
  app.add_option("--resume", options.resume,
                 "Resume the run in this folder (an output folder or the folder of one run) with the command "
                 "line that started it; rows that have ended are kept");
  app.add_option("--hang-limit", options.hang_limit_s,
                 "Seconds without output after which a worker counts as hung (default: 120 to 300 s, "
                 "depending on what it is doing; for a program on the device, its case's timeout)")
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs,
                 "Threads for references, shared by all devices (default: all of the CPU)")
      ->check(CLI::PositiveNumber);
  app.add_option("--prepare", options.preparing_threads,
                 "Threads that compile kernels and compute references ahead of the running row; 0: none "
                 "(default: one less than --jobs, at least 1; none with --validation)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--inject-fault", options.injected_faults,
                 "KIND@GLOB: make the worker crash, hang or lose its device in rows whose ids match, to test "
                 "that the run survives it; repeatable");
}

void add_max_failures(CLI::App& app, int& most) {
  app.add_option("--max-failures", most,
                 "Stop after this many rows have failed; the rest are MISSING until --resume (which may set "
                 "a new limit) runs them")
      ->check(CLI::PositiveNumber);
}

void add_judged_rows(CLI::App& app, app::JudgeOptions& options) {
  CLI::Option* ops = app.add_option(
      "--op", options.ops, "Ops to judge by (names or globs; repeatable; default: all that use the shaders)");
  app.add_option(
         "--filter", options.filter,
         "Ids to judge by, of every tier and size: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest")
      ->excludes(ops);
  app.add_option("--cases", options.cases,
                 "Case files or folders of them; repeatable (default: as for `run`)");
  app.add_option("--rows", options.rows,
                 "Number of rows per stage, drawn at random; at least one of each op that is judged")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--secret-seed", options.secret_seed,
                 "Seed of the secret data, which no shader can know (default: random)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
  app.add_option("--draw-seed", options.draw_seed,
                 "Seed for drawing rows and the shapes of fuzzed cases (default: random)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
}

void add_judge_limits(CLI::App& app, app::JudgeOptions& options) {
  app.add_option("--budget", options.budget_s, "Sampling budget of a timed row, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit_s,
                 "Seconds after which no further row starts; the verdict is then incomplete")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--hang-limit", options.hang_limit_s,
                 "Seconds without output after which the worker is killed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--memory-limit", options.memory_limit_gib,
                 "GiB of memory that the worker may use for data; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--ceilings", options.ceilings,
                 "As for `run`; with 'none' no time can be SUSPECT for its speed")
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
}

}  // namespace

void add_case_options(CLI::App& app, app::CaseOptions& options) {
  app.add_option("files", options.files,
                 "Case files or folders of them (default: cases/ here, else the one next to the binary)");
  app.add_option("--filter", options.filter,
                 "Ids to select: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest");
  app.add_option("--impl", options.impls, "Impls to select (names or globs; repeatable)");
  app.add_option("--op", options.ops, "Ops to select (names or globs; repeatable)");
  app.add_option("--tier", options.tiers, "Tiers to select (repeatable; default: all)")
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}));
  app.add_option("--mode", options.mode, "Select only accuracy rows or only performance rows")
      ->check(CLI::IsMember({"accu", "perf"}));
  app.add_option("--shard", options.shard,
                 "I/N: the I-th of N parts of the rows; rows that share data stay together (default: from "
                 "GTEST_SHARD_INDEX, TEST_SHARD_INDEX or CI_NODE_INDEX and their totals, else all rows)");
  app.add_option("--balance", options.balance,
                 "Report whose times are used to make the parts of --shard equally long; give the same one "
                 "to all parts");
  app.add_option("--seed", options.seed, "Seed of the input data, for cases that do not set their own");
}

void add_benchmark_flag(CLI::App& app, bool& flag) {
  app.add_flag("--benchmark", flag, "Also print the times in Google Benchmark's console format");
}

CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file) {
  return app.add_option("--github-summary", file,
                        "Append a Markdown summary to this file, such as $GITHUB_STEP_SUMMARY");
}

void add_ceiling_store(CLI::App& app, std::filesystem::path& folder) {
  app.add_option("--ceiling-store", folder,
                 "Folder of ceilings for the runs of one night: measured ceilings are stored there and "
                 "reused, even if other work disturbed them (default: $XDG_CACHE_HOME/assay/ceilings, which "
                 "keeps only undisturbed ones)");
}

void add_run(CLI::App& app, app::RunOptions& options) {
  add_case_options(app, options.cases);
  add_device_choice(app, options);
  app.add_option("--out", options.out,
                 "Folder for the reports: they are written to OUT/runs/<run>/<device>/, and OUT/<device> "
                 "links to the newest run (default: assay-out; with --watch, --filter, --op, --impl, --mode "
                 "or case files: assay-out/scratch)");
  app.add_flag("--overwrite", options.overwrite,
               "Allow an --out that already holds a run: the new run is added, and the links move to it");
  add_comparisons(app, options);
  app.add_option("--dump", options.dump,
                 "Folder for the tensors of every row as .npy and the SPIR-V of its dispatches as text");
  app.add_option("--budget", options.budget_s, "Sampling budget of a performance row, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
         "--program-limit", options.program_limit_s,
         "Skip rows whose program would take longer than this even at the device's ceilings, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ceilings", options.ceilings,
                 "The device's ceilings that times are compared with: 'stored' (measured once for this "
                 "device and driver), 'measure' (measure them now) or 'none'")
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
  add_ceiling_store(app, options.ceiling_store);
  app.add_option("--answer-cache", options.answer_cache,
                 "Folder that keeps references' answers for later runs, or 'none' (default: "
                 "$XDG_CACHE_HOME/assay/answers; a build with uncommitted changes keeps none)");
  app.add_option(
         "--inject-slowdown", options.injected_slowdown_pct,
         "Add this percentage of extra work (at least one dispatch) to every timed program, to check that "
         "compare finds a slowdown")
      ->check(CLI::Range(0.0, 1000.0));
  add_renamed(app, "--handicap", "--inject-slowdown");
  app.add_option("--secret-seed", options.secret_seed,
                 "Seed of secret data, which no shader can know and on which timed rows must be right too "
                 "(default: drawn for each run and reported in run.json; 0: no secret data)");
  add_isolation(app, options);
  add_max_failures(app, options.max_failures);
  app.add_flag("--validation", options.validation,
               "Turn on the Khronos validation layer; any message from it fails the case");
  app.add_flag(
      "--robust-access", options.robust_access,
      "Let the device bounds-check every buffer access, for shaders you do not trust; this can change times");
  app.add_flag(
      "--strict", options.strict,
      "Fail when a rule of the device's expectations is expired or stale (an unexpected pass always fails)");
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
                 "Folder of GLSL files, named as in shaders/ of the source tree; those that differ from "
                 "assay's own are judged")
      ->required();
  CLI::Option* baseline =
      app.add_option("--baseline", options.baseline,
                     "Folder of GLSL files to compare times with (default: assay's own shaders)")
          ->check(CLI::ExistingDirectory);
  app.add_option("--baseline-impl", options.baseline_impl,
                 "Compare times with this impl of assay's own shaders")
      ->excludes(baseline);
  app.add_option(
      "--json", options.json,
      "Write the verdict as JSON to this file; '-': to stdout, with no other output (docs/judge.md)");
  app.add_option("--out", options.out,
                 "Folder for all output, which goes to OUT/<id>/ and includes judge.json")
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "Device to run on: index, UUID or part of the name (default: the best)");
  add_judged_rows(app, options);
  add_judge_limits(app, options);
  app.add_flag("-v,--verbose", options.verbose, "Also print the output of its runs");
  app.footer(
      "Exit code: 0 right in all rows, timed and trusted; 1 wrong, distrusted or incomplete, or a shader "
      "does not compile; 2 there is nothing to judge: no such folder, no shader in it that a selected case "
      "runs, or nothing selected; 3 the machine failed; 77 no Vulkan device.");
}

void add_devices(CLI::App& app, DevicesOptions& options) {
  app.add_option("--device", options.devices,
                 "Device to describe: index, UUID or part of the name; repeatable (default: all)");
  app.add_flag(
      "--ceilings", options.ceilings,
      "Measure the ceilings of each device (bandwidth by footprint, arithmetic, dispatch spacing) and "
      "store them");
  add_ceiling_store(app, options.ceiling_store);
  app.add_flag("--json", options.json,
               "Print index, name, report folder name (slug), UUID and driver as JSON, one device per line")
      ->excludes("--ceilings");
}

}  // namespace assay::cli
