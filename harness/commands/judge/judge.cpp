#include "harness/commands/judge/judge.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/context.h"
#include "harness/commands/judge/drawn_cases.h"
#include "harness/commands/judge/judge_runs.h"
#include "harness/commands/judge/judged_cases.h"
#include "harness/commands/judge/judgement.h"
#include "harness/commands/judge/judgement_texts.h"
#include "harness/commands/judge/submission.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/commands/run_options.h"
#include "harness/engine/run/run_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iterator>
#include <ostream>
#include <random>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

/// An unpredictable seed that every JSON reader represents exactly.
std::uint64_t drawn_seed() {
  std::random_device device;
  constexpr std::uint64_t most = (std::uint64_t{1} << 53) - 1;
  return (((std::uint64_t{device()} << 32) | std::uint64_t{device()}) & most) | 1;
}

CaseOptions case_options(const JudgeOptions& options) {
  CaseOptions made;
  made.files = options.cases;
  made.op_folders = options.op_folders;
  return made;
}

/// The options with the cases that are used: never those of the submission.
JudgeOptions with_cases(JudgeOptions options) {
  options.cases = case_options(options).paths(options.submission);
  return options;
}

RunOptions device_options(const JudgeOptions& options) {
  RunOptions made;
  if (!options.device.empty()) made.devices = {options.device};
  return made;
}

DeviceInfo chosen_device(const JudgeOptions& options) {
  RunDevices devices(device_options(options));
  if (devices.opened().size() != 1) {
    throw Error(fmt::format("judging a submission: --device '{}' chooses {} devices, but must choose one",
                            options.device, devices.opened().size()));
  }
  return devices.opened().front().info;
}

LoadResult load(const JudgeOptions& options, const Context& context, const Terminal& terminal) {
  LoadResult loaded = load_and_complain(case_options(options), context.registry, terminal.errors);
  if (!loaded.errors.empty()) throw Error("judging a submission: the case files have errors");
  return loaded;
}

[[noreturn]] void refuse_json(const std::filesystem::path& file, const std::string& why) {
  throw Error(
      fmt::format("judging a submission: the verdict cannot be written to --json '{}': {}; name another file",
                  printable_line(file.string()), why));
}

std::filesystem::path folder_of_json(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// A folder, or the nearest one above it that exists.
std::filesystem::path existing_folder(std::filesystem::path folder) {
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

/// Throws Error unless it is a folder in which files can be made.
void check_folder_of_json(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    refuse_json(file, fmt::format("its folder cannot be made, as '{}' is no folder",
                                  printable_line(folder.string())));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse_json(file, "its folder cannot be written to: " + std::generic_category().message(errno));
}

/// Whether --json is written by replacing a file of its folder. What is there already as another thing, or as
/// a link, is written to where it is, whatever its folder allows.
bool replaces_json(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (file.empty() || file == "-") return false;
  const bool is_other = fs::exists(file, error) && !fs::is_regular_file(file, error);
  return !is_other && !fs::is_symlink(file, error);
}

/// Checks that the file of --json can be written, before a judgement of minutes. Makes nothing: the options
/// may be wrong. Throws Error.
void check_json(const std::filesystem::path& file) {
  std::error_code error;
  if (file != "-" && std::filesystem::is_directory(file, error)) refuse_json(file, "it is a folder");
  if (!replaces_json(file)) return;
  const std::filesystem::path name = file.filename();
  if (name.empty() || name == "." || name == "..") refuse_json(file, "it names a folder");
  check_folder_of_json(file, existing_folder(folder_of_json(file)));
}

/// Makes the folder of --json. Throws Error.
void make_folder_of_json(const std::filesystem::path& file) {
  if (!replaces_json(file)) return;
  const std::filesystem::path folder = folder_of_json(file);
  std::error_code why, error;
  std::filesystem::create_directories(folder, why);
  if (!std::filesystem::is_directory(folder, error))
    refuse_json(file, "its folder cannot be made: " + why.message());
  check_folder_of_json(file, folder);
}

/// One judgement, from its options to its verdict.
class Judge {
 public:
  Judge(const JudgeOptions& options, const Context& context, const Terminal& terminal,
        std::function<bool()> stop_requested)
      : options_(with_cases(options)),
        context_(with_ops(context, options.op_folders)),
        terminal_(terminal),
        stop_requested_(std::move(stop_requested)),
        folder_(options.out / new_run_id()),
        secret_seed_(options.secret_seed.value_or(drawn_seed())),
        draw_seed_(options.draw_seed.value_or(drawn_seed())) {}

  ExitCode run() {
    refuse_unknown_ops(options_.ops, context_.registry, "judging a submission");
    check_json(options_.json);
    const DeviceInfo device = chosen_device(options_);
    const LoadResult loaded = load(options_, context_, terminal_);
    const Submission submission = take_submission(options_.submission, folder_ / "submission");
    make_folder_of_json(options_.json);
    judgement_.findings = submission.findings;
    note_files(loaded.files);
    JudgedCases cases;
    cases.all = loaded.cases.size();
    if (!submission.files.empty()) judge_files(submission, loaded, device, cases);
    return conclude(facts(submission, cases, device));
  }

 private:
  void judge_files(const Submission& submission, const LoadResult& loaded, const DeviceInfo& device,
                   JudgedCases& cases) {
    ShaderUse use(submission, device,
                  {.baseline = options_.baseline, .compiler = context_.shader_compiler, .must_stop = [this] {
                     return must_stop();
                   }});
    DrawnCases fuzzed, drawn;
    choose_cases(submission, loaded, use, cases, fuzzed, drawn);
    note_files(fuzzed.files);
    note_files(drawn.files);
    const JudgeRunParts parts{.options = options_,
                              .context = context_,
                              .terminal = terminal_,
                              .submission = submission,
                              .cases = cases,
                              .fuzzed = fuzzed,
                              .drawn = drawn,
                              .folder = folder_,
                              .secret_seed = secret_seed_,
                              .why_stopped = [this] { return why_stopped(); }};
    JudgeRuns runs(parts);
    tell(fmt::format("accuracy: {} rows", cases.accuracy.size()));
    run_stage(runs, Stage::Accuracy, why_stopped(), [&] { return runs.accuracy(); });
    tell(fmt::format("secret data: {} rows, fuzzed cases: {}", cases.secret.size(), fuzzed.cases.size()));
    run_stage(runs, Stage::Secret, why_not_secret(), [&] { return runs.secret_and_fuzzed(); });
    note_wrong_on_secret_data(judgement_);
    tell(fmt::format("performance: {} rows, and {} that were drawn", cases.performance.size(),
                     drawn.cases.size()));
    run_stage(runs, Stage::Performance, why_untimed(), [&] { return runs.performance(); });
    had_ceilings_ = runs.had_ceilings();
    note_faster_at_public_points(judgement_);
    std::vector<Stage> stages{Stage::Accuracy, Stage::Secret, Stage::Performance, Stage::Drawn};
    if (!is_never_right()) stages.push_back(Stage::Fuzz);  // else left out, without rows that would say so
    note_empty_stages(judgement_, stages, cases.ops);
    note_updated_in_place(judgement_, cases.mattering);
  }

  /// If the judgement must stop meanwhile, what was not chosen yet stays empty.
  void choose_cases(const Submission& submission, const LoadResult& loaded, ShaderUse& use,
                    JudgedCases& cases, DrawnCases& fuzzed, DrawnCases& drawn) try {
    tell("comparing the SPIR-V with the baseline's");
    cases = choose_judged_cases(loaded.cases, options_, use, submission, draw_seed_);
    fuzzed = fuzzed_cases(cases.mattering, context_.registry, use, static_cast<std::size_t>(options_.rows),
                          draw_seed_, folder_ / "fuzz");
    drawn = drawn_points(cases, loaded.cases, context_.registry, use, draw_seed_, folder_ / "drawn");
  } catch (const JudgementStopped&) {
    judgement_.missing.push_back({"not_run", why_stopped() + " while cases were chosen"});
  }

  void note_files(const std::vector<std::filesystem::path>& files) {
    for (const auto& file : files) case_files_.push_back(hashed_file(file));
  }

  /// Runs the stage unless `why_not` gives a reason to leave it out.
  void run_stage(const JudgeRuns& runs, Stage stage, const std::string& why_not,
                 const std::function<std::vector<JudgedRow>()>& run) {
    add(why_not.empty() ? run() : runs.left_out(stage, why_not));
  }

  std::string why_stopped() const {
    if (!must_stop()) return {};
    return is_late() ? "the time limit was reached" : "the judge was stopped";
  }

  /// Why nothing follows the first stage; empty if something does. A kernel that is never right cannot be
  /// trusted any more.
  std::string why_not_secret() const {
    if (std::string why = why_stopped(); !why.empty()) return why;
    return is_never_right() ? "no row of the first stage is right" : "";
  }

  /// Whether rows of the first stage show something, and none of them a right answer.
  bool is_never_right() const {
    const auto shows = [&](bool correct) {
      return std::ranges::any_of(judgement_.rows, [&](const JudgedRow& row) {
        return row.stage == Stage::Accuracy && row.correct == correct;
      });
    };
    return shows(false) && !shows(true);
  }

  /// Why performance is not measured; empty if it is. A wrong kernel gets no time.
  std::string why_untimed() const {
    if (std::string why = why_stopped(); !why.empty()) return why;
    const auto is_bad = [](const JudgedRow& row) { return row.correct == false || !row.trusted; };
    if (std::ranges::any_of(judgement_.rows, is_bad)) return "the submission is not right";
    return {};
  }

  bool is_late() const { return watch_.s() > options_.time_limit_s; }
  bool must_stop() const { return is_late() || (stop_requested_ && stop_requested_()); }

  void add(std::vector<JudgedRow> rows) {
    judgement_.rows.insert(judgement_.rows.end(), std::make_move_iterator(rows.begin()),
                           std::make_move_iterator(rows.end()));
  }

  void tell(const std::string& what) const { terminal_.log << "judge: " << what << std::endl; }

  JudgeFacts facts(const Submission& submission, const JudgedCases& cases, const DeviceInfo& device) const {
    return {.version = context_.build.version,
            .device = device,
            .has_ceilings = had_ceilings_,
            .secret_seed = secret_seed_,
            .draw_seed = draw_seed_,
            .submission = options_.submission.string(),
            .hash = submission.hash,
            .files = submission.files,
            .unchanged = submission.unchanged,
            .cases = cases.all,
            .selected = cases.selected,
            .mattering = cases.mattering.size(),
            .ops = cases.ops,
            .accuracy_of = cases.accuracy_of,
            .performance_of = cases.performance_of,
            .case_files = case_files_,
            .folder = folder_.string(),
            .seconds = watch_.s()};
  }

  ExitCode conclude(const JudgeFacts& facts) const {
    const std::string json = judgement_json(judgement_, facts, options_);
    const bool is_json_printed = options_.json == "-";
    // Printed first: a file that cannot be written, as on a full disk, must not lose the verdict.
    terminal_.out << (is_json_printed ? json : judgement_text(judgement_, facts, terminal_.console.color))
                  << std::flush;
    replace_file(folder_ / "judge.json", json);
    if (!is_json_printed) {
      terminal_.out << fmt::format("full report   {}\n", printable_line((folder_ / "judge.json").string()))
                    << std::flush;
      if (!options_.json.empty()) write_named_file(options_.json, json);
    }
    return judgement_.is_trusted() ? ExitCode::Fine : ExitCode::Failures;
  }

  const JudgeOptions options_;
  const Context context_;
  const Terminal& terminal_;
  std::function<bool()> stop_requested_;
  std::filesystem::path folder_;
  std::uint64_t secret_seed_;
  std::uint64_t draw_seed_;
  Stopwatch watch_;
  bool had_ceilings_ = false;
  std::vector<HashedFile> case_files_;  ///< from which rows were chosen, and those that were drawn
  Judgement judgement_;
};

}  // namespace

ExitCode judge(const JudgeOptions& options, const Context& context, const Terminal& terminal,
               const std::function<bool()>& stop_requested) {
  return Judge(options, context, terminal, stop_requested).run();
}

}  // namespace assay::app
