#include "harness/commands/run/output/recorder.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/rows_to_resume.h"
#include "harness/report/record/rows_left.h"
#include "harness/report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

}  // namespace assay::app
