#include "harness/commands/run/output/device_output.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/rules/device_rules.h"
#include "harness/commands/run_summary.h"
#include "harness/device/device_profile.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/rows_to_run.h"
#include "harness/report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

constexpr double shortest_interval_s = 2;
constexpr double run_per_rewrite = 20;

/// The action for a line of a journal that is resumed. A damaged line may be about any row, so that the run
/// cannot be resumed; a power failure can leave one before lines that are intact.
LineAction resumed_line(ReportBuilder& builder) {
  return [&builder](std::string_view line) {
    try {
      builder.line(line);
    } catch (const OtherSchema&) {
      throw;
    } catch (const Error& error) {
      throw Error(
          fmt::format("resuming a run: this line of the journal is damaged: {}; `assay report --salvage` "
                      "shows the rows of the other lines; run the cases again into a new folder",
                      error.what()));
    }
  };
}

ConsoleOptions console_options(const RunOptions& options, const Terminal& terminal, bool is_live) {
  ConsoleOptions console = terminal.console;
  console.verbose = options.attempt.verbose;
  console.is_terminal = console.is_terminal && is_live;
  return console;
}

Recorder recorder_of(const RunOptions& options, const std::filesystem::path& folder, Console& console) {
  if (options.resume.empty()) return {folder, console};
  unpack_journal(folder);
  if (std::filesystem::exists(folder / journal_name)) return {folder, console, Recorder::GoOn{}};
  return {folder, console};
}

}  // namespace

void RewriteSchedule::rewrote(double began_s, double ended_s) {
  next_s_ = ended_s + std::max(shortest_interval_s, run_per_rewrite * (ended_s - began_s));
}

Recorder::Recorder(std::filesystem::path directory, Console& console)
    : directory_(std::move(directory)), journal_(directory_ / journal_name), console_(console) {}

Recorder::Recorder(std::filesystem::path directory, Console& console, GoOn)
    : directory_(std::move(directory)), journal_(directory_ / journal_name, true), console_(console) {
  const std::filesystem::path path = directory_ / journal_name;
  for_each_line(path, resumed_line(builder_));
  for (const KilledRow& killed : killed_rows(builder_)) {
    journal_.end(killed.row, killed.end);
    builder_.end(killed.row, killed.end);
  }
  has_run_ = builder_.has_run();
  has_plan_ = builder_.has_plan();
}

void Recorder::run(const RunInfo& info) {
  if (std::exchange(has_run_, false)) return console_.run(builder_.run());
  journal_.run(info);
  builder_.run(info);
  console_.run(info);
}

void Recorder::plan(std::span<const RowInfo> cases) {
  if (std::exchange(has_plan_, false)) {
    std::vector<RowInfo> left;
    const std::map<RowIndex, RowEnd> untried = untried_rows(builder_);
    for (RowIndex row = 0; row < builder_.rows(); ++row) {
      if (!builder_.events(row).is_finished() || untried.contains(row)) left.push_back(builder_.info(row));
    }
    return console_.plan(left);
  }
  journal_.plan(cases);
  builder_.plan(cases);
  console_.plan(cases);
  rewrite_reports();
}

void Recorder::begin(RowIndex row) {
  journal_.begin(row);
  builder_.begin(row);
  console_.begin(builder_.info(row));
}

void Recorder::judged(RowIndex row, const AccuracyResult& accuracy) {
  journal_.judged(row, accuracy);
  builder_.judged(row, accuracy);
}

void Recorder::block(RowIndex row, const Block& block) {
  journal_.block(row, block);
  builder_.block(row, block);
  console_.block(builder_.info(row), block);
}

void Recorder::end(RowIndex row, const RowEnd& end) {
  journal_.end(row, end);
  builder_.end(row, end);
  console_.record(builder_.record(row));
  if (rewrites_.is_due(steady_seconds())) rewrite_reports();
}

void Recorder::done() {
  journal_.done();
  builder_.done();
  console_.end();
  rewrite_reports();
}

void Recorder::interrupted() {
  console_.end();
  rewrite_reports();
}

void Recorder::rewrite_reports() {
  const double started = steady_seconds();
  try {
    write_reports(directory_, builder_.report());
    reports_failure_.clear();
  } catch (const Error& error) {
    reports_failure_ = error.what();
  }
  rewrites_.rewrote(started, steady_seconds());
}

ExpectedRows::ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next)
    : ForwardedEvents(next), expectations_(expectations), device_name_(std::move(device_name)) {}

void ExpectedRows::plan(std::span<const RowInfo> rows) {
  for (const RowInfo& row : rows) rules_.push_back(expectations_.find(device_name_, words_of(row)));
  ForwardedEvents::plan(rows);
}

/// A row that begins again for its next turn keeps its result; one that starts over is judged again.
void ExpectedRows::judged(RowIndex row, const AccuracyResult& accuracy) {
  if (rules_.at(row) != nullptr) judged_.insert_or_assign(row, accuracy);
  ForwardedEvents::judged(row, accuracy);
}

void ExpectedRows::end(RowIndex row, const RowEnd& end) {
  const Expectation* rule = rules_.at(row);
  if (rule == nullptr) return ForwardedEvents::end(row, end);
  const auto judged = judged_.find(row);
  ForwardedEvents::end(row, as_expected(end, *rule, judged == judged_.end() ? nullptr : &judged->second));
  judged_.erase(row);
}

/// Rows that were not reached do not count: time was up, or this limit was reached.
void FailureLimit::count(Status status) {
  if (class_of(status) == StatusClass::Failing || status == Status::DeviceLost) ++failed_;
}

void CountedFailures::end(RowIndex row, const RowEnd& end) {
  limit_.count(end.status);
  ForwardedEvents::end(row, end);
}

DeviceOutput::DeviceOutput(const OutputParts& parts, const ChosenDevice& device, bool is_live)
    : parts_(parts),
      terminal_{is_live ? parts.terminal.out : held_back_, is_live ? parts.terminal.log : held_back_log_,
                parts.terminal.errors, parts.terminal.console},
      folder_(parts.folder.of_device(device.slug)),
      console_(terminal_.out, terminal_.log, console_options(parts.options, parts.terminal, is_live)),
      recorder_(recorder_of(parts.options, folder_, console_)),
      counted_(parts.failures, recorder_),
      expected_(parts.expectations, own_name(device.info), counted_) {
  parts_.folder.link(device.slug, terminal_.log);
}

RunReport DeviceOutput::conclude(bool is_interrupted) {
  is_interrupted ? recorder_.interrupted() : recorder_.done();
  RunReport report = recorder_.report();
  print_summary(terminal_.out, console_, report, folder_, parts_.options.benchmark_console);
  if (const std::string& failure = recorder_.reports_failure(); !failure.empty()) {
    terminal_.errors << fmt::format(
        "writing the reports: {}; `assay report {}` makes them from the journal\n", printable(failure),
        printable(folder_.string()));
  }
  return report;
}

void DeviceOutput::show() {
  parts_.terminal.log << held_back_log_.str();
  parts_.terminal.out << held_back_.str();
  held_back_log_.str({});
  held_back_.str({});
}

}  // namespace assay::app
