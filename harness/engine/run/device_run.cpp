#include "harness/engine/run/device_run.h"

#include "harness/base/clock.h"
#include "harness/base/hash.h"
#include "harness/engine/accuracy/dump.h"
#include "harness/engine/energy/energy_window.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/row_preparation.h"
#include "harness/engine/timing/measurement.h"
#include "harness/report/record/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace assay {
namespace {

using Rows = std::vector<std::unique_ptr<DeviceRow>>;

/// Limit on the host memory of rows that wait to be timed.
constexpr std::size_t most_waiting_bytes = std::size_t{1} << 30;

/// The index of the baseline of `row` in `rows`, if it is timed.
std::optional<std::size_t> baseline_among(const Rows& rows, const DeviceRow& row) {
  const std::optional<std::size_t> wanted = row.baseline().row;
  for (std::size_t i = 0; i < rows.size() && wanted; ++i) {
    if (rows[i]->group == row.group && rows[i]->index == *wanted) return i;
  }
  return std::nullopt;
}

/// Whether two rows of a group have the same baseline, or one is the other's.
bool are_compared(const RowGroup& group, std::size_t a, std::size_t b) {
  return group.baselines[a].row.value_or(a) == group.baselines[b].row.value_or(b);
}

/// Calls the hooks around the timing of a pool of rows and restricts preparation meanwhile.
class TimingTurn {
 public:
  /// `ahead` may be null.
  TimingTurn(const DeviceRunOptions& options, gpu::Device& device, RowPreparation* ahead)
      : options_(options) {
    if (options_.before_timing) options_.before_timing();
    if (ahead == nullptr) return;
    device.tell_phase(Phase::Ahead);
    hush_.emplace(*ahead);
    device.tell_phase(Phase::Host);
  }
  ~TimingTurn() {
    if (options_.after_timing) options_.after_timing();
  }
  TimingTurn(const TimingTurn&) = delete;
  TimingTurn& operator=(const TimingTurn&) = delete;

 private:
  const DeviceRunOptions& options_;
  std::optional<RowPreparation::Hush> hush_;
};

/// The run of the rows of one device. Rows to be timed wait for each other, as many as the limits on memory
/// and time allow, and alternate block by block: a disturbance of the machine then affects some blocks of
/// every row instead of all blocks of some rows.
class DeviceRun {
 public:
  DeviceRun(gpu::Device& device, gpu::ShaderLibrary& shaders, const RowsLeft& left,
            const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener)
      : context_(device, shaders, expectations, options),
        left_(left),
        listener_(listener),
        estimate_(options.sampling, options.rows.measures_energy ? usual_energy_window_s : 0) {}

  std::string run(std::span<const PlannedGroup> groups) {
    begin_preparing(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      judge_group(groups[i], i);
      planned_ += groups[i].size();
      if (context_.options.group_ended) context_.options.group_ended();
      if (is_pool_full()) time_waiting();
    }
    time_waiting();
    end_preparing();
    return no_dump_because_;
  }

 private:
  /// A debugger that captures commands would see those of several rows at once, so nothing is prepared then.
  void begin_preparing(std::span<const PlannedGroup> groups) {
    const int threads = context_.options.preparing_threads;
    if (threads <= 0 || !left_.may_prepare || gpu::DebuggerCapture::is_possible()) return;
    ahead_.emplace(context_, groups, left_, threads);
  }

  void end_preparing() {
    if (!ahead_) return;
    context_.device.tell_phase(Phase::Ahead);
    ahead_.reset();
    context_.device.tell_phase(Phase::Host);
  }

  bool is_pool_full() const {
    return waiting_bytes_ > most_waiting_bytes ||
           estimate_.seconds(waiting_.size()) > context_.options.pool_s;
  }

  /// Checks the rows of one group: each is recorded, or made ready for timing. After the device is lost, rows
  /// are recorded as MISSING.
  void judge_group(const PlannedGroup& planned, std::size_t order) {
    const auto group = std::make_shared<RowGroup>();
    group->order = order;
    group->ahead = ahead_ ? &*ahead_ : nullptr;
    group->planned = planned;
    group->first = planned_;
    group->baselines = choose_baselines(planned, context_.options.rows.baseline_impl);
    running_ = nullptr;
    Rows ready;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (!left_.wants(group->first + i)) continue;
      if (ended()) {
        listener_.end(group->first + i, {.status = Status::Missing,
                                         .reason = "not run: " + ended_because_,
                                         .stopped = ended_because_ == stopped_because});
      } else if (std::unique_ptr<DeviceRow> row = run_row(group, i)) {
        ready.push_back(std::move(row));
      } else {
        running_ = nullptr;  // the row has ended and was freed
      }
    }
    group->forget_secret_answers();
    if (ready.empty()) return;
    waiting_bytes_ += waiting_bytes(*group, ready);
    std::move(ready.begin(), ready.end(), std::back_inserter(waiting_));
  }

  void time_waiting() {
    Rows rows = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    context_.kept.used = 0;  // free for rows that are checked later
    if (!ended()) return measure_rows(rows);
    for (const auto& row : rows) finish(*row, missing("not timed"));
  }

  /// The outcome of a row that did not run to its end because of what ended the others.
  Outcome missing(const char* how_far) const {
    return {Status::Missing, fmt::format("{}: {}", how_far, ended_because_),
            ended_because_ == stopped_because};
  }

  /// Whether no further row may run: the device is lost, a dump failed, or a stop was requested.
  bool ended() {
    if (!ended_because_.empty()) return true;
    if (!context_.options.stop_requested || !context_.options.stop_requested()) return false;
    ended_because_ = stopped_because;
    return true;
  }

  /// Runs a row until it is recorded or (mode perf) its answer is accepted and it is ready to be timed.
  std::unique_ptr<DeviceRow> run_row(const std::shared_ptr<RowGroup>& group, std::size_t index) {
    auto row = std::make_unique<DeviceRow>();
    row->group = group;
    row->index = index;
    row->record.info = context_.info_of(row->plan());
    context_.take_messages();
    begin(*row);
    if (ahead_) ahead_->reached(row->number());
    std::optional<Outcome> outcome = plan_row(*row, context_);
    if (!outcome) outcome = check_output(*row);
    if (row->record.accuracy) listener_.judged(row->number(), *row->record.accuracy);
    row->messages = context_.take_messages();
    if (row->plan().mode == Mode::Perf && outcome->status == Status::Pass) return row;
    finish(*row, *outcome);
    return nullptr;
  }

  Outcome check_output(DeviceRow& row) try {
    std::optional<Stopwatch> watch;  // starts late: the time of the group's data belongs to no row
    Outcome outcome;
    const auto failure = outcome_of([&] {
      context_.device.tell_phase(Phase::Reference);
      const DataSet& data = row.group->data_for(row.test_case(), context_.options.answers);
      context_.device.tell_phase(Phase::Host);
      watch.emplace();
      outcome = judge_row(row, data, context_);
    });
    if (watch) row.judging_ms = watch->ms();
    return failure.value_or(outcome);
  } catch (const DumpFailed& error) {
    no_dump_because_ = ended_because_ = error.what();
    return missing("not run to its end");
  }

  void measure_rows(Rows& rows) {
    // Baselines begin and end first, so that a listener that compares rows knows their results.
    std::stable_partition(rows.begin(), rows.end(), [](const auto& row) { return !row->baseline().wanted; });
    std::vector<TimedRow> timed;
    for (const auto& row : rows) timed.push_back(timed_row(rows, *row));
    if (timed.empty()) return;
    const std::vector<Measurement> measurements = measure_in_turn(timed);
    credit_messages();
    if (running_ != nullptr) note_loss(*running_);
    for (std::size_t i = 0; i < rows.size(); ++i) finish_measured(*rows[i], measurements[i]);
    running_ = nullptr;
  }

  static std::vector<TimedData> timed_data(const DeviceRow& row) {
    std::vector<TimedData> data;
    for (const JudgedRun& one : row.timed) data.push_back({one.experiment.get(), one.outputs});
    return data;
  }

  /// A seed that no shader can know, and that a resumed run uses again.
  std::uint64_t chance_of(const DeviceRow& row) const {
    return hash64(fmt::format("{} {}", context_.options.secret_seed.value_or(0), row.record.info.id));
  }

  TimedRow timed_row(const Rows& rows, DeviceRow& row) {
    const Case& test_case = row.test_case();
    return {.test_case = &test_case,
            .data = timed_data(row),
            .has_known_data = row.has_known_data,
            .chance = chance_of(row),
            .judged_hash = row.record.accuracy->output_hash,
            .cache = row.plan().cache,
            .ceiling = row.ceiling,
            .impl_auto = row.impl == test_case.impl ? "" : row.impl->name,
            .baseline = baseline_among(rows, row),
            .before = {.blocks = blocks_before(row), .next_round = first_free_round(row)},
            .begins = [this, &row] { take_turn(row); },
            .block_ended = [this, &row](const Block& block) { listener_.block(row.number(), block); }};
  }

  /// Blocks of an earlier attempt that still count.
  std::vector<Block> blocks_before(const DeviceRow& row) const {
    const auto found = left_.progress.find(row.number());
    if (found == left_.progress.end() ||
        !blocks_still_count(found->second.output_hash, row.record.accuracy->output_hash))
      return {};
    std::vector<Block> blocks = found->second.blocks;
    std::erase_if(blocks, [](const Block& block) { return block.samples_ns.empty(); });
    return blocks;
  }

  /// The first round after those of compared rows that are not run again.
  int first_free_round(const DeviceRow& row) const {
    int round = 0;
    for (std::size_t other = 0; other < row.group->planned.size(); ++other) {
      const RowIndex number = row.group->first + other;
      const auto found = left_.progress.find(number);
      if (left_.wants(number) || found == left_.progress.end() || !are_compared(*row.group, row.index, other))
        continue;
      for (const Block& block : found->second.blocks) round = std::max(round, block.round + 1);
    }
    return round;
  }

  std::vector<Measurement> measure_in_turn(std::span<const TimedRow> timed) {
    const TimingTurn turn(context_.options, context_.device, ahead_ ? &*ahead_ : nullptr);
    const Stopwatch watch;
    context_.take_messages();
    SamplingOptions sampling = context_.options.sampling;
    sampling.clock = &context_.tools().clock;
    sampling.stop_requested = context_.options.stop_requested;
    std::vector<Measurement> measurements = measure(timed, context_.tools(), sampling);
    context_.device.tell_phase(Phase::Host);
    const auto sampled =
        std::ranges::count_if(measurements, [](const Measurement& m) { return m.refusal.empty(); });
    estimate_.note(static_cast<std::size_t>(sampled), watch.s());
    return measurements;
  }

  void take_turn(DeviceRow& row) {
    credit_messages();
    if (!context_.device.alive()) throw gpu::DeviceLost("the device was lost before this row's turn");
    begin(row);
    context_.device.tell_phase(Phase::Timing);
  }

  /// Credits new messages of the validation layer to the row that was running.
  void credit_messages() {
    const LayerMessages told = context_.take_messages();
    if (running_ != nullptr) running_->messages.add(told);
  }

  void finish_measured(DeviceRow& row, const Measurement& measurement) {
    row.timing_ms = measurement.total_s * 1e3;
    if (measurement.failure && lost_by_ && *lost_by_ != row.number())
      return finish(row, missing("its timing did not finish"));
    if (measurement.failure) {
      return finish(row, *outcome_of([&] { std::rethrow_exception(measurement.failure); }));
    }
    if (measurement.stopped) return finish(row, stopped(row));
    if (!measurement.refusal.empty()) return finish(row, {Status::Skipped, measurement.refusal});
    if (!measurement.verified) return finish(row, {Status::Fail, unverified(measurement)});
    row.record.perf = measurement.perf;
    row.record.spent = measurement.spent;
    row.record.spent->judging_ms = row.judging_ms;
    const std::string& suspect = measurement.perf.suspect;
    finish(row, {suspect.empty() ? Status::Pass : Status::Suspect, suspect});
  }

  static std::string unverified(const Measurement& measurement) {
    if (!measurement.changed_memory.empty()) {
      return fmt::format("the timed runs changed memory that they may not write: {}; so no time is reported",
                         measurement.changed_memory);
    }
    if (measurement.changed_scratch.empty())
      return "the timed runs did not compute the answer that was judged, so no time is reported";
    return fmt::format("the timed runs changed {}, so no time is reported", measurement.changed_scratch);
  }

  /// The outcome of a stop: of the rows that alternate, the one that was running is INTERRUPTED.
  Outcome stopped(const DeviceRow& row) const {
    if (running_ == &row)
      return {Status::Interrupted, fmt::format("{} while this row was timed", stopped_because), true};
    return {Status::Missing, fmt::format("its timing did not finish: {}", stopped_because), true};
  }

  void finish(DeviceRow& row, Outcome outcome) {
    end_row(row, std::move(outcome), context_);
    note_loss(row);
    listener_.end(row.number(), end_of(row.record));
    row.timed.clear();
  }

  /// Notes which row the device was lost by: `row`, which ran last, unless an earlier one was noted.
  void note_loss(const DeviceRow& row) {
    if (!context_.device.alive() && !lost_by_) lost_by_ = row.number();
    if (lost_by_ == row.number())
      ended_because_ = fmt::format("the device was lost by {}", row.record.info.id);
  }

  /// Reports which row's program runs now, since rows that are timed together alternate.
  void begin(DeviceRow& row) {
    if (running_ == &row) return;
    running_ = &row;
    listener_.begin(row.number());
  }

  DeviceContext context_;
  const RowsLeft& left_;
  RunListener& listener_;
  TimingEstimate estimate_;
  std::optional<RowPreparation> ahead_;
  RowIndex planned_ = 0;  ///< number of rows in earlier groups
  Rows waiting_;          ///< answer accepted, not timed yet
  std::size_t waiting_bytes_ = 0;
  DeviceRow* running_ = nullptr;     ///< the row that began last
  std::string ended_because_;        ///< empty: rows may run
  std::string no_dump_because_;      ///< empty: no dump failed
  std::optional<RowIndex> lost_by_;  ///< the row during which the device was lost
};

}  // namespace

void TimingEstimate::note(std::size_t rows, double wall_s) {
  rows_ += rows;
  wall_s_ += wall_s;
}

double TimingEstimate::seconds(std::size_t rows) const {
  const double row_s = rows_ > 0 ? wall_s_ / static_cast<double>(rows_) : first_guess_s_;
  return row_s * static_cast<double>(rows);
}

std::string run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders,
                          std::span<const PlannedGroup> groups, const RowsLeft& left,
                          const Expectations& expectations, const DeviceRunOptions& options,
                          RunListener& listener) {
  return DeviceRun(device, shaders, left, expectations, options, listener).run(groups);
}

}  // namespace assay
