#include "harness/cli/options_of_run.h"

#include "harness/base/error.h"
#include "harness/cli/command_line.h"
#include "harness/cli/number_check.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

/// The options of `run`, in the order of the help: one function per group.
class RunDeclaration {
 public:
  RunDeclaration(CLI::App& app, app::RunOptions& options) : app_(app), options_(options) {}

  void add_all() {
    add_case_options(app_, options_.cases);
    add_devices();
    add_output();
    add_comparisons();
    add_measurement();
    add_data();
    add_workers();
    add_resume();
    add_execution();
    add_checks();
    add_console();
    say_what_may_be_given_with_resume();
  }

 private:
  /// Lets an option be given with --resume. Without it, the option keeps the value that it has in the run's
  /// own command line, or, if it is in RunOptions::Attempt, its default. All other options cannot be given
  /// again.
  CLI::Option* may_change(CLI::Option* option) {
    may_change_.push_back(option);
    return option;
  }

  void add_devices() {
    app_.add_option(
        "--device", options_.devices,
        "Device to run on: index, UUID or part of the name; repeatable, or 'all' (default: the best)");
    app_.add_option("--expect-device", options_.expect_device,
                    "Refuse a device whose name does not match this regular expression");
  }

  void add_output() {
    app_.add_option("--out", options_.out,
                    "Folder for the reports: they are written to OUT/runs/<run>/<device>/, and OUT/<device> "
                    "links to the newest run (default: assay-out; with --watch, --filter, --op, --impl, "
                    "--mode or case files: assay-out/scratch)");
    app_.add_flag("--overwrite", options_.overwrite,
                  "Allow an --out that already holds a run: the new run is added, and the links move to it");
  }

  void add_comparisons() {
    app_.add_option("--shaders", options_.shaders, "Folder of GLSL files to use instead of the embedded ones")
        ->check(CLI::ExistingDirectory);
    CLI::Option* versus =
        app_.add_option("--versus-shaders", options_.versus_shaders,
                        "Run every row with the GLSL files in this folder as well, and compare the times")
            ->check(CLI::ExistingDirectory);
    app_.add_flag("--versus-alone", options_.versus_alone,
                  "With the first shaders, run only the rows whose times are needed for the comparison")
        ->needs(versus);
    app_.add_option("--baseline-impl", options_.rows.baseline_impl,
                    "Compare the time of every other impl (with --versus-alone: of every row of "
                    "--versus-shaders) with the time of this one");
  }

  void add_measurement() {
    app_.add_option("--dump", options_.rows.dump,
                    "Folder for the tensors of every row as .npy and the SPIR-V of its dispatches as text");
    app_.add_option("--budget", options_.rows.budget_s, "Sampling budget of a performance row, in seconds")
        ->check(positive_number(most_seconds))
        ->capture_default_str();
    app_.add_option(
            "--program-limit", options_.rows.program_limit_s,
            "Skip rows whose program would take longer than this even at the device's ceilings, in seconds")
        ->check(positive_number(most_seconds))
        ->capture_default_str();
    add_ceilings(app_, options_.ceilings,
                 "The device's ceilings that times are compared with: 'stored' (measured once for this "
                 "device and driver), 'measure' (measure them now) or 'none'");
    add_ceiling_store(app_, options_.ceiling_store);
  }

  void add_data() {
    app_.add_option("--answer-cache", options_.answer_cache,
                    "Folder that keeps references' answers for later runs, or 'none' (default: "
                    "$XDG_CACHE_HOME/assay/answers; a build with uncommitted changes keeps none)");
    app_.add_option(
            "--inject-slowdown", options_.rows.injected_slowdown_pct,
            "Add this percentage of extra work (at least one dispatch) to every timed program, to check that "
            "compare finds a slowdown")
        ->check(number(0, 1000));
    app_.add_option("--secret-seed", options_.secret_seed,
                    "Seed of secret data, which no shader can know and on which timed rows must be right too "
                    "(default: drawn for each run and reported in run.json; 0: no secret data)")
        ->check(whole_number(0, most_seed));
    app_.add_flag("--time-secret-data", options_.rows.times_secret_data,
                  "Time rows on two sets of secret data instead of their own data and one such set, for "
                  "shaders you do not trust");
  }

  void add_workers() {
    CLI::Option* here = may_change(app_.add_flag_callback(
        "--no-isolation", [this_attempt = &options_.attempt] { this_attempt->isolation = false; },
        "Run the rows in this process, for debuggers: a row that crashes ends the run"));
    may_change(app_.add_option(
                   "--workers", options_.workers,
                   "Worker processes that run accuracy rows in parallel on a CPU device (default: one per "
                   "core, at most 8, fewer for few rows). Timed rows run alone, and a GPU has one worker"))
        ->check(whole_number(1, 64))
        ->excludes(here);
    may_change(app_.add_option("--worker-command", options_.worker_command,
                               "Shell command that starts a worker, such as 'ssh HOST assay worker'; the "
                               "worker uses the devices, case files and shaders of that machine"));
  }

  void add_resume() {
    resume_ = may_change(app_.add_option(
        "--resume", options_.resume,
        "Resume the run in this folder (an output folder or the folder of one run) with the command line "
        "that started it; rows that have ended are kept"));
  }

  void add_execution() {
    app_.add_option("--hang-limit", options_.hang_limit_s,
                    "Seconds without output after which a worker counts as hung (default: 120 to 300 s, "
                    "depending on what it is doing; for a program on the device, its case's timeout)")
        ->check(positive_number(most_seconds));
    app_.add_option("--jobs", options_.jobs,
                    "Threads for references, shared by all devices (default: all of the CPU)")
        ->check(whole_number(1, 1024));
    app_.add_option("--prepare", options_.preparing_threads,
                    "Threads that compile kernels and compute references ahead of the running row; 0: none "
                    "(default: one less than --jobs, at least 1; none with --validation)")
        ->check(whole_number(0, 1024));
    app_.add_option("--inject-fault", options_.injected_faults,
                    "KIND@GLOB: make the worker crash, hang or lose its device in rows whose ids match, to "
                    "test that the run survives it; repeatable");
    may_change(app_.add_option("--max-failures", options_.attempt.max_failures,
                               "Stop after this many rows have failed; the rest are MISSING until --resume "
                               "(which may set a new limit) runs them"))
        ->check(whole_number(1, 1'000'000'000));
  }

  void add_checks() {
    app_.add_flag("--validation", options_.validation,
                  "Turn on the Khronos validation layer; any message from it fails the case");
    app_.add_flag("--robust-access", options_.robust_access,
                  "Let the device bounds-check every buffer access, for shaders you do not trust; this can "
                  "change times");
    app_.add_flag("--strict", options_.strict,
                  "Fail when a rule of the device's expectations is expired or stale (an unexpected pass "
                  "always fails)");
  }

  void add_console() {
    CLI::Option* watch =
        app_.add_flag("--watch", options_.watch,
                      "Run again whenever a case file or a file in the shader folders is saved, and print "
                      "what changed");
    add_github_summary(app_, options_.github_summary)->excludes(watch);
    app_.get_option("--workers")->excludes(watch);
    add_benchmark_flag(app_, options_.benchmark_console);
    may_change(app_.add_flag("-v,--verbose", options_.attempt.verbose,
                             "Print a line for every case, and every failure in full"));
  }

  void say_what_may_be_given_with_resume() {
    std::vector<std::string> names;
    for (const CLI::Option* option : may_change_) {
      if (option != resume_) names.push_back(option->get_name());
    }
    const std::string allowed =
        fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
    resume_->description(resume_->get_description() + ". Besides it, only " + allowed + " may be given");
    app_.parse_complete_callback([&app = app_, resume = resume_, may_change = may_change_, allowed] {
      if (resume->count() == 0) return;
      for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0 || std::ranges::find(may_change, option) != may_change.end()) continue;
        throw CLI::ValidationError(
            resume->get_name(),
            fmt::format("a run is resumed with the options that it was started with, so {} cannot be given; "
                        "only {} can",
                        option->get_name(), allowed));
      }
    });
  }

  CLI::App& app_;
  app::RunOptions& options_;
  std::vector<const CLI::Option*> may_change_;
  CLI::Option* resume_ = nullptr;
};

}  // namespace

void declare_run(CLI::App& app, app::RunOptions& options) {
  RunDeclaration(app, options).add_all();
}

app::RunOptions parse_run(const std::vector<std::string>& command, app::RunOptions options) {
  CLI::App app{"", "assay"};
  declare_run(*app.add_subcommand("run"), options);
  std::vector<std::string> words(command.rbegin(), command.rend());  // CLI11 takes them in reverse
  if (!words.empty()) words.pop_back();
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw Error(std::string("reading the run's command line: ") + error.what());
  }
  return options;
}

}  // namespace assay::cli
