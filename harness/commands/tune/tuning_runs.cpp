#include "harness/commands/tune/tuning_runs.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/commands/find_report.h"
#include "harness/commands/points/written_cases.h"
#include "harness/commands/run/run_once.h"
#include "harness/report/compare/row_side.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_name = "defaults";

std::string name_of_candidate(std::size_t index) {
  return fmt::format("candidate_{}", index + 1);
}

std::string case_file(const TuningPoint& point, std::span<const Tune> tunes) {
  std::string text = fmt::format("op: {}\ncases:\n", point.base.op->name);
  text += case_yaml(with_tune(point, {}), default_name);
  for (std::size_t i = 0; i < tunes.size(); ++i)
    text += case_yaml(with_tune(point, tunes[i]), name_of_candidate(i));
  return text;
}

/// Ends a run in which several candidates hung: each costs the limit of silence, and once more when it is
/// tried again, so that a dozen of them would cost half an hour.
class HangWatch {
 public:
  explicit HangWatch(fs::path out) : out_(std::move(out)) {}

  /// Whether so many rows hung. Reads the journal at most once a second.
  bool is_reached() {
    constexpr double interval_s = 1;
    if (hangs_ >= most || since_.s() < interval_s) return hangs_ >= most;
    since_ = Stopwatch();
    count();
    return hangs_ >= most;
  }

 private:
  static constexpr std::size_t most = 2;

  void count() try {
    const std::string word = fmt::format(R"("status":"{}")", name_of(Status::Timeout));
    hangs_ = 0;
    for_each_line(only_journal(out_), [&](std::string_view line) {
      if (line.starts_with(R"({"event":"end",)") && line.find(word) != line.npos) ++hangs_;
    });
  } catch (const Error&) {
    hangs_ = 0;  // the run has no journal yet
  }

  fs::path out_;
  Stopwatch since_;
  std::size_t hangs_ = 0;
};

/// Why what was timed is no result, as `assay compare` would say; empty: it is one.
std::string why_no_time(const RunInfo& run, const Record& record) {
  if (record.status != Status::Pass || !record.perf) {
    return fmt::format("it is {}{}", name_of(record.status),
                       record.reason.empty() ? "" : ": " + record.reason);
  }
  return suspicion(run, record);
}

/// The rows of a run that timed candidates, by the names of their cases.
class TimedCandidates {
 public:
  explicit TimedCandidates(const fs::path& journal) {
    if (for_each_line(journal, [&](std::string_view line) { report_.line(line); })) report_.cut_off();
    for (RowIndex row = 0; row < report_.rows(); ++row) rows_[report_.info(row).name] = row;
  }

  std::optional<Record> record(const std::string& name) const {
    const auto row = rows_.find(name);
    return row == rows_.end() ? std::nullopt : std::optional(report_.record(row->second));
  }

  /// Why a row has no time that counts; empty: it has one.
  std::string problem(const std::string& name) const {
    const std::optional<Record> one = record(name);
    return one ? why_no_time(report_.run(), *one) : "it was not reached";
  }

  /// A program that is the defaults' own is as fast as they are: what is measured is noise. From fewer rounds
  /// than a comparison of runs needs blocks there is no ratio.
  std::optional<Ratio> ratio(const std::string& name) const {
    const std::optional<Record> own = record(name), defaults = record(default_name);
    if (!own || !defaults || !problem(name).empty() || !problem(default_name).empty()) return std::nullopt;
    const std::optional<Ratio> measured =
        ratio_in_rounds(report_.events(rows_.at(name)).blocks, report_.events(rows_.at(default_name)).blocks);
    if (!measured || measured->pairs < static_cast<int>(fewest_blocks)) return std::nullopt;
    const bool is_same =
        !own->perf->program_hash.empty() && own->perf->program_hash == defaults->perf->program_hash;
    if (!is_same) return measured;
    return Ratio{.median = 1, .interval = {.low = 1, .high = 1}, .pairs = measured->pairs};
  }

 private:
  ReportBuilder report_;
  std::map<std::string, RowIndex> rows_;
};

/// The command line of a run of the candidates in a case file; `seconds` is the budget of a row.
std::vector<std::string> words_of_run(const TuneOptions& options, const fs::path& file, const fs::path& out,
                                      double seconds) {
  std::vector<std::string> words{"assay", "run", file.string()};
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  add("--tuning", "none");
  add("--budget", fmt::format("{}", seconds));
  add("--ceilings", options.ceilings);
  add("--secret-seed", "0");  // the shaders are our own, and the references of secret data take long
  add("--hang-limit", fmt::format("{}", options.hang_limit_s));
  add("--out", out.string());
  if (!options.device.empty()) add("--device", options.device);
  for (const std::string& fault : options.injected_faults) add("--inject-fault", fault);
  for (const fs::path& folder : options.cases.op_folders) add("--ops", folder.string());
  return words;
}

}  // namespace

TuningRuns::TuningRuns(const TuneOptions& options, const Context& context, const Terminal& terminal,
                       fs::path folder)
    : options_(options), context_(context), terminal_(terminal), folder_(std::move(folder)) {
  make_directories(folder_);
}

TuningRuns::~TuningRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

TriedTunes TuningRuns::run(const TuningPoint& point, std::span<const Tune> tunes, double seconds,
                           const std::function<bool()>& must_stop) {
  const fs::path file = folder_ / "candidates.yaml", out = folder_ / "run";
  std::error_code ignored;
  fs::remove_all(out, ignored);
  replace_file(file, case_file(point, tunes));
  const std::vector<std::string> words = words_of_run(options_, file, out, seconds);
  HangWatch hangs(out);
  TriedTunes result;
  for (const Tune& tune : tunes) result.tried.push_back({.tune = tune});
  try {
    quiet_run({.purpose = "tuning", .verbose = options_.verbose, .may_leave_faults_unmet = true}, words,
              context_, terminal_, [&] { return (must_stop && must_stop()) || hangs.is_reached(); });
  } catch (const Error&) {
    if (!must_stop || !must_stop()) throw;
    result.default_problem =
        "it was not reached";  // a run that is stopped before it has a device is an error
    return result;
  }
  const TimedCandidates timed(only_journal(out));
  const std::optional<Record> defaults = timed.record(default_name);
  result.default_problem = timed.problem(default_name);
  result.is_failure = defaults && class_of(defaults->status) != StatusClass::Fine;
  for (std::size_t i = 0; i < tunes.size(); ++i) {
    const std::optional<Record> record = timed.record(name_of_candidate(i));
    if (!record) continue;
    result.tried[i].status = record->status;
    result.tried[i].reason = record->reason;
    if (record->perf) result.tried[i].time_us = record->perf->time_us_p50;
    if (result.default_problem.empty()) result.tried[i].ratio = timed.ratio(name_of_candidate(i));
  }
  const auto is_left = [](const TriedTune& each) {
    return each.status == Status::Missing || each.status == Status::Interrupted;
  };
  result.is_cut_short = hangs.is_reached() && std::ranges::any_of(result.tried, is_left);
  return result;
}

}  // namespace assay::app
