#include "harness/cli/options_of_run.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cli/command_line.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

constexpr std::uint64_t most_replays = 1000000;

/// What an option does that nobody but the user may ask for, in the words of a message.
constexpr const char* starts_programs = "it starts programs";
constexpr const char* runs_shaders = "it runs other shaders";
constexpr const char* runs_references = "it runs references that are programs";
constexpr const char* writes_outside = "it writes outside of the run's folder";

/// Whose words are parsed: a user's, or those of a journal, which may name folders that are not here.
enum class WordsOf : std::uint8_t { User, Journal };

/// The options of `run`, in the order of the help: one function per group.
class RunDeclaration {
 public:
  RunDeclaration(CLI::App& app, app::RunOptions& options, WordsOf words = WordsOf::User)
      : app_(app), options_(options), words_(words) {}

  void add_all() {
    add_case_options(app_, options_.cases);
    never_from_journal(app_.get_option("--ops"), runs_references);
    add_expectations();
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

  /// The words of a command line that resumes a run: those of the options that were given now and, if these
  /// are the declarations of `before`, those of its options that are kept. Throws Error if `before` has an
  /// option that is never taken from a journal and is not given now.
  static std::vector<std::string> resumed(const RunDeclaration& before, const RunDeclaration& now) {
    now.refuse_to_take(before);
    std::vector<std::string> words{"assay", "run"};
    for (const CLI::Option* option : before.app_.get_options()) {
      if (before.is_kept(*option) && !now.replaces(*option)) append(words, *option);
    }
    for (const CLI::Option* option : now.app_.get_options()) {
      if (option != now.resume_ && option->nonpositional()) append(words, *option);
    }
    const CLI::Option& files = *before.app_.get_option("files");
    words.emplace_back("--");
    words.insert(words.end(), files.results().begin(), files.results().end());
    return words;
  }

 private:
  // --resume takes the options of a run from the command line in its journal. Most cannot be given again.

  /// Lets an option be given with --resume, in place of the value that it had in the run.
  CLI::Option* may_change(CLI::Option* option) {
    may_change_.push_back(option);
    return option;
  }
  /// Likewise, for an option of RunOptions::Attempt: if it is not given with --resume, it has its default.
  CLI::Option* of_attempt(CLI::Option* option) {
    of_attempt_.insert(option->get_name());
    return may_change(option);
  }
  /// Likewise, for an option that does something outside of the run's folder. It is never taken from a
  /// journal, which somebody else may have written: --resume is refused until it is given again, unless the
  /// journal's value is `harmless`.
  CLI::Option* never_from_journal(CLI::Option* option, const char* what_it_does, const char* harmless = "") {
    never_from_journal_.emplace(option->get_name(), Effect{what_it_does, harmless});
    return may_change(option);
  }
  CLI::Option* folder(CLI::Option* option) const {
    return words_ == WordsOf::User ? option->check(CLI::ExistingDirectory) : option;
  }

  /// Whether a run that is resumed keeps an option of its own command line.
  bool is_kept(const CLI::Option& option) const {
    const bool is_value = option.nonpositional() && &option != resume_;
    return is_value && !of_attempt_.contains(option.get_name()) && !has_effect(option);
  }
  bool has_effect(const CLI::Option& option) const {
    const auto found = never_from_journal_.find(option.get_name());
    return found != never_from_journal_.end() && option.count() > 0 &&
           option.results().back() != found->second.harmless;
  }
  /// Whether an option of another command line is given here too, or excluded by one that is.
  bool replaces(const CLI::Option& other) const {
    const CLI::Option& same = *app_.get_option(other.get_name());
    const std::set<CLI::Option*> excluded = same.get_excludes();
    return same.count() > 0 ||
           std::ranges::any_of(excluded, [](const CLI::Option* option) { return option->count() > 0; });
  }
  void refuse_to_take(const RunDeclaration& before) const {
    std::vector<std::string> named;
    for (const CLI::Option* option : before.app_.get_options()) {
      if (!before.has_effect(*option) || replaces(*option)) continue;
      named.push_back(fmt::format("{} '{}' ({})", option->get_name(), shortened(option->results().back(), 80),
                                  never_from_journal_.at(option->get_name()).what));
    }
    if (named.empty()) return;
    throw Error(fmt::format(
        "resuming a run: its journal has the option{} {}; a journal may be somebody else's, so this is "
        "never taken from it: give {} again with the value that you want ('' for none)",
        named.size() == 1 ? "" : "s", fmt::join(named, " and "), named.size() == 1 ? "it" : "each"));
  }
  /// The option as words that mean the same, whatever they begin with.
  static void append(std::vector<std::string>& words, const CLI::Option& option) {
    for (const std::string& value : option.results()) {
      const bool is_flag = option.get_items_expected_max() == 0;
      words.push_back(is_flag && value != "true" ? option.get_name() + "=" + value : option.get_name());
      if (!is_flag) words.push_back(value);
    }
  }

  void add_expectations() {
    CLI::Option* option = app_.add_option(
        "--expectations", options_.cases.expectations,
        "Folder or file with rules about devices, which count before those that are found near "
        "the cases; repeatable (cases/README.md)");
    option->allow_extra_args(false);  // case files may follow
    if (words_ == WordsOf::User) option->check(CLI::ExistingPath);
  }

  void add_devices() {
    app_.add_option(
            "--device", options_.devices,
            "Device to run on: index, UUID or part of the name; repeatable, or 'all' (default: the best)")
        ->allow_extra_args(false);
    add_as_if(app_, options_.as_if,
              "Plan, refuse and choose as on another device, and run what both can run: ");
    app_.add_option("--expect-device", options_.expect_device,
                    "Refuse a device whose name does not match this regular expression");
  }

  void add_output() {
    app_.add_option("--out", options_.out,
                    "Folder for the reports: they are written to OUT/runs/<run>/<device>/, and OUT/<device> "
                    "links to the newest run (default: assay-out; with --watch, --filter, --op, --impl, "
                    "--mode, --nodes, --set, --replay, --shard or case files: assay-out/scratch)");
    app_.add_flag("--overwrite", options_.overwrite,
                  "Allow an --out that already holds a run: the new run is added, and the links move to it");
  }

  void add_comparisons() {
    never_from_journal(folder(app_.add_option("--shaders", options_.shaders,
                                              "Folder of GLSL files to use instead of the embedded ones")),
                       runs_shaders);
    CLI::Option* versus = never_from_journal(
        folder(app_.add_option(
            "--versus-shaders", options_.versus_shaders,
            "Run every row with the GLSL files in this folder as well, and compare the times")),
        runs_shaders);
    app_.add_flag("--versus-alone", options_.versus_alone,
                  "With the first shaders, run only the rows whose times are needed for the comparison")
        ->needs(versus);
    app_.add_option("--baseline-impl", options_.rows.baseline_impl,
                    "Compare the time of every other impl (with --versus-alone: of every row of "
                    "--versus-shaders) with the time of this one");
  }

  void add_measurement() {
    never_from_journal(
        app_.add_option(
            "--dump", options_.rows.dump,
            "Folder for the tensors of every row as .npy and the SPIR-V of its dispatches as text"),
        writes_outside);
    app_.add_option("--budget", options_.rows.budget_s, "Sampling budget of a performance row, in seconds")
        ->check(positive_number(most_seconds))
        ->capture_default_str();
    app_.add_flag("--energy", options_.rows.measures_energy,
                  "After its timing, run each performance row for 1 to 5 s more and measure the energy of a "
                  "program run, on devices that tell it (docs/timing.md)");
    app_.add_option(
            "--program-limit", options_.rows.program_limit_s,
            "Skip rows whose program would take longer than this even at the device's ceilings, in seconds")
        ->check(positive_number(most_seconds))
        ->capture_default_str();
    app_.add_option(
            "--tuning", options_.tuning,
            "Defaults of tunables that are best on the device: 'auto' (the shipped file of the device, "
            "if there is one), 'none' or a file that `assay tune` wrote (docs/tuning.md)")
        ->capture_default_str();
    add_ceilings(app_, options_.ceilings,
                 "The device's ceilings that times are compared with: 'stored' (measured once for this "
                 "device and driver), 'measure' (measure them now) or 'none'");
    never_from_journal(add_ceiling_store(app_, options_.ceiling_store), writes_outside);
  }

  void add_data() {
    never_from_journal(
        app_.add_option("--answer-cache", options_.answer_cache,
                        "Folder that keeps references' answers for later runs, or 'none' (default: "
                        "$XDG_CACHE_HOME/assay/answers; a build with uncommitted changes keeps none)"),
        writes_outside, "none");
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
    CLI::Option* here = of_attempt(app_.add_flag_callback(
        "--no-isolation",
        [this_attempt = &options_.attempt] {
          this_attempt->isolation = false;
          this_attempt->compiles_here = true;
        },
        "Run the rows and compile shaders in this process, for debuggers: a row that crashes ends the run"));
    may_change(app_.add_option(
                   "--workers", options_.workers,
                   "Worker processes that run accuracy rows in parallel on a CPU device (default: one per "
                   "core, at most 8, fewer for few rows). Timed rows run alone, and a GPU has one worker"))
        ->check(whole_number(1, 64))
        ->excludes(here);
    never_from_journal(
        app_.add_option("--worker-command", options_.worker_command,
                        "Shell command that starts a worker, such as 'ssh HOST assay worker'; the "
                        "worker uses the devices, case files and shaders of that machine"),
        starts_programs);
  }

  void add_resume() {
    resume_ = may_change(app_.add_option(
        "--resume", options_.resume,
        "Resume the run in this folder (an output folder or the folder of one run) with the command line "
        "that started it; rows that have ended are kept"));
  }

  void add_execution() {
    app_.add_option("--hang-limit", options_.hang_limit_s,
                    "Longest time without output, in seconds, after which a worker counts as hung; lowers "
                    "the limits of "
                    "120 to 300 s, which depend on what it is doing, and the timeouts of cases")
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
                    "test that the run survives it; repeatable")
        ->allow_extra_args(false);
    of_attempt(app_.add_option("--max-failures", options_.attempt.max_failures,
                               "Stop after this many rows have failed; the rest are MISSING until --resume "
                               "(which may set a new limit) runs them"))
        ->check(whole_number(1, 1'000'000'000));
  }

  void add_checks() {
    app_.add_flag("--validation", options_.validation,
                  "Turn on the Khronos validation layer; any message from it fails the case");
    app_.add_option_function<int>(
            "--replay",
            [&options = options_](int runs) {
              options.rows.replays = runs;
              options.cases.replays = true;
            },
            "Instead of other rows, run the accuracy of each selected case this many times more, half of "
            "them on "
            "a busy device and half on a rested one, also with other sizes of workgroup; a row whose answers "
            "differ fails, with the rate")
        ->check(whole_number(2, most_replays));
    app_.add_flag("--robust-access", options_.robust_access,
                  "Let the device bounds-check every buffer access, for shaders you do not trust; this can "
                  "change times");
    app_.add_flag(
        "--strict", options_.strict,
        "Fail when a rule of the device's expectations is expired, stale or too wide (an unexpected "
        "pass always fails)");
  }

  void add_console() {
    CLI::Option* watch =
        app_.add_flag("--watch", options_.watch,
                      "Run again whenever a case file or a file in the shader folders is saved, and print "
                      "what changed");
    never_from_journal(add_github_summary(app_, options_.github_summary), writes_outside)->excludes(watch);
    app_.get_option("--workers")->excludes(watch);
    app_.add_flag("--dry-run", options_.dry_run,
                  "Only check the options and the case files, and print how many rows a run would have: no "
                  "device is used and nothing is written")
        ->excludes(watch);
    add_benchmark_flag(app_, options_.benchmark_console);
    of_attempt(app_.add_flag("-v,--verbose", options_.attempt.verbose,
                             "Print a line for every case, and every failure in full"));
  }

  void say_what_may_be_given_with_resume() {
    std::vector<std::string> names;
    for (const CLI::Option* option : app_.get_options()) {
      const bool is_named = std::ranges::find(may_change_, option) != may_change_.end();
      if (is_named && option != resume_) names.push_back(option->get_name());
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

  struct Effect {
    const char* what;
    const char* harmless;
  };

  CLI::App& app_;
  app::RunOptions& options_;
  WordsOf words_;
  std::vector<const CLI::Option*> may_change_;
  std::set<std::string> of_attempt_;
  std::map<std::string, Effect> never_from_journal_;
  CLI::Option* resume_ = nullptr;
};

}  // namespace

void declare_run(CLI::App& app, app::RunOptions& options) {
  RunDeclaration(app, options).add_all();
}

namespace {

/// A command line of `run` that is parsed.
class ParsedRun {
 public:
  /// Throws Error(Usage).
  explicit ParsedRun(const std::vector<std::string>& command, WordsOf words_of = WordsOf::User)
      : declaration_(*app_.add_subcommand("run"), options_, words_of) {
    declaration_.add_all();
    std::vector<std::string> words(command.rbegin(), command.rend());  // CLI11 takes them in reverse
    if (!words.empty()) words.pop_back();
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      throw Error(std::string("reading the run's command line: ") + error.what());
    }
  }

  const app::RunOptions& options() const { return options_; }
  const RunDeclaration& declaration() const { return declaration_; }

 private:
  CLI::App app_{"", "assay"};
  app::RunOptions options_;
  RunDeclaration declaration_;
};

}  // namespace

app::RunOptions parse_run(const std::vector<std::string>& command) {
  return ParsedRun(command).options();
}

std::vector<std::string> resumed_command(const std::vector<std::string>& before,
                                         const std::vector<std::string>& now) {
  return RunDeclaration::resumed(ParsedRun(before, WordsOf::Journal).declaration(),
                                 ParsedRun(now).declaration());
}

}  // namespace assay::cli
