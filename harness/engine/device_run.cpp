#include "harness/engine/device_run.h"

#include "harness/engine/device_context.h"
#include "harness/engine/device_rows.h"
#include "harness/engine/measurement.h"
#include "harness/engine/row_ending.h"
#include "harness/engine/row_judging.h"
#include "harness/engine/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace assay {
namespace {

using Rows = std::vector<std::unique_ptr<DeviceRow>>;

bool loses_device(Status status) {
  return status == Status::Timeout || status == Status::DeviceLost;
}

/// Host memory that rows hold which wait to be timed.
constexpr std::size_t most_waiting_bytes = std::size_t{1} << 30;

/// Where in `rows` the baseline of `row` stands, if it is timed.
std::optional<std::size_t> baseline_among(const Rows& rows, const DeviceRow& row) {
  const std::optional<std::size_t> wanted = row.baseline().row;
  for (std::size_t i = 0; i < rows.size() && wanted; ++i) {
    if (rows[i]->group == row.group && rows[i]->index == *wanted) return i;
  }
  return std::nullopt;
}

/// All rows of a device. Those that are to be timed wait for each other, as many as memory allows, and take
/// turns by blocks: what the machine does meanwhile is then seen by some blocks of every row and not by all
/// blocks of some.
class DeviceRun {
 public:
  DeviceRun(gpu::Device& device, gpu::ShaderLibrary& shaders, const Expectations& expectations,
            const DeviceRunOptions& options, RunListener& listener)
      : context_(device, shaders, expectations, options), listener_(listener) {}

  void run(std::span<const PlannedGroup> groups) {
    for (const PlannedGroup& group : groups) {
      judge_group(group);
      if (waiting_bytes_ > most_waiting_bytes) time_waiting();
    }
    time_waiting();
  }

 private:
  /// Takes the rows of one group as far as each goes alone. After the device is lost, here or before, they
  /// are recorded as MISSING.
  void judge_group(const PlannedGroup& planned) {
    const auto group = std::make_shared<RowGroup>();
    group->planned = planned;
    group->baselines = choose_baselines(planned, context_.options.baseline_impl);
    group->ended.assign(planned.size(), Status::Missing);
    running_ = nullptr;
    Rows ready;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (lost()) {
        listener_.record(missing_row(planned[i], "not run: " + lost_because_, context_));
      } else if (std::unique_ptr<DeviceRow> row = run_row(group, i)) {
        ready.push_back(std::move(row));
      } else {
        running_ = nullptr;  // it has ended, and is no more
      }
    }
    if (ready.empty()) return;
    waiting_bytes_ += waiting_bytes(*group, ready);
    std::move(ready.begin(), ready.end(), std::back_inserter(waiting_));
  }

  void time_waiting() {
    Rows rows = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    context_.kept.used = 0;  // of the rows that are judged after these have been timed
    if (!lost()) return measure_rows(rows);
    for (const auto& row : rows) finish(*row, {Status::Missing, "not timed: " + lost_because_});
  }

  bool lost() const { return !lost_because_.empty(); }

  /// Takes a row as far as it goes alone: recorded, or (mode perf) judged right and ready to be timed.
  std::unique_ptr<DeviceRow> run_row(const std::shared_ptr<RowGroup>& group, std::size_t index) {
    auto row = std::make_unique<DeviceRow>();
    row->group = group;
    row->index = index;
    row->record.info = context_.info_of(row->plan());
    context_.take_messages();
    begin(*row);
    std::optional<Outcome> outcome = plan_row(*row, context_);
    if (!outcome) outcome = judge(*row);
    row->validation_messages = context_.take_messages();
    if (row->plan().mode == Mode::Perf && outcome->status == Status::Pass) return row;
    finish(*row, *outcome);
    return nullptr;
  }

  Outcome judge(DeviceRow& row) {
    std::optional<Stopwatch> watch;  // the group's data are no row's
    Outcome outcome;
    const auto failure = outcome_of([&] {
      const DataSet& data = row.group->data_for(row.one());
      watch.emplace();
      outcome = judge_row(row, data, context_);
    });
    if (watch) row.judging_ms = watch->ms();
    return failure.value_or(outcome);
  }

  void measure_rows(Rows& rows) {
    // Baselines come first, in the list and to their end: what is compared must know how they ended.
    std::stable_partition(rows.begin(), rows.end(), [](const auto& row) { return !row->baseline().wanted; });
    std::vector<TimedCase> timed;
    for (const auto& row : rows) {
      const Case& one = row->one();
      timed.push_back({&one, row->experiment.get(), row->outputs, row->outputs_hash, row->plan().cache,
                       row->impl == one.impl ? "" : row->impl->name, baseline_among(rows, *row),
                       [this, &row] {
                         credit_messages();
                         begin(*row);
                       }});
    }
    if (timed.empty()) return;
    context_.take_messages();
    SamplingOptions sampling = context_.options.sampling;
    sampling.clock = &context_.tools().clock;
    std::vector<Measurement> measurements = measure(timed, context_.tools(), sampling);
    note_regret(timed, measurements);
    credit_messages();
    for (std::size_t i = 0; i < rows.size(); ++i) finish_measured(*rows[i], measurements[i]);
    running_ = nullptr;
  }

  /// What the validation layer has said since rows took turns last is about the one whose turn it was.
  void credit_messages() {
    const std::int64_t told = context_.take_messages();
    if (running_ != nullptr) running_->validation_messages += told;
  }

  void finish_measured(DeviceRow& row, const Measurement& measurement) {
    row.timing_ms = measurement.total_s * 1e3;
    if (measurement.failure) {
      return finish(row, *outcome_of([&] { std::rethrow_exception(measurement.failure); }));
    }
    if (!measurement.refusal.empty()) return finish(row, {Status::Skipped, measurement.refusal});
    if (!measurement.verified) {
      return finish(
          row, {Status::Fail, "the timed runs did not compute the answer that was judged: no time is given"});
    }
    row.record.perf = measurement.perf;
    row.record.spent = measurement.spent;
    row.record.spent->judging_ms = row.judging_ms;
    row.ratio = measurement.ratio;
    const std::string& suspect = measurement.perf.suspect;
    finish(row, {suspect.empty() ? Status::Pass : Status::Suspect, suspect});
  }

  void finish(DeviceRow& row, Outcome outcome) {
    end_row(row, std::move(outcome), context_);
    if (loses_device(row.record.status))
      lost_because_ = fmt::format("the device was lost by {}", row.record.info.id);
    listener_.record(row.record);
    row.experiment.reset();
  }

  /// Rows that are timed together take turns: the listener knows at any time whose program runs.
  void begin(DeviceRow& row) {
    if (running_ == &row) return;
    running_ = &row;
    listener_.begin(row.record.info);
  }

  DeviceContext context_;
  RunListener& listener_;
  Rows waiting_;  ///< judged right, not timed yet
  std::size_t waiting_bytes_ = 0;
  DeviceRow* running_ = nullptr;  ///< the row that began last
  std::string lost_because_;
};

}  // namespace

void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener) {
  DeviceRun(device, shaders, expectations, options, listener).run(groups);
}

}  // namespace assay
