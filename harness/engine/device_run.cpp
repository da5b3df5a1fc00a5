#include "harness/engine/device_run.h"

#include "harness/core/hash.h"
#include "harness/engine/accuracy.h"
#include "harness/engine/case_info.h"
#include "harness/engine/device_rows.h"
#include "harness/engine/dump.h"
#include "harness/engine/judge.h"
#include "harness/engine/measurement.h"
#include "harness/engine/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

namespace assay {
namespace {

/// A status and its reason, from whatever went wrong while a row ran.
struct Outcome {
  Status status = Status::Pass;
  std::string reason;
};

/// Runs `body`; its exceptions become the outcome of the row. Errors of recording pass through.
template <class Body>
std::optional<Outcome> outcome_of(Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const gpu::OutOfMemory& error) {
    return Outcome{Status::OutOfMemory, error.what()};
  } catch (const std::bad_alloc&) {
    return Outcome{Status::OutOfMemory, "the host has no memory left for this case's tensors"};
  } catch (const gpu::Timeout& error) {
    return Outcome{Status::Timeout, error.what()};
  } catch (const gpu::DeviceLost& error) {
    return Outcome{Status::DeviceLost, error.what()};
  } catch (const Error& error) {
    if (error.code() == ExitCode::Infrastructure) throw;  // an unwritable dump is no fault of the case
    return Outcome{Status::Fail, error.what()};
  } catch (const std::exception& error) {
    return Outcome{Status::Fail, error.what()};
  }
}

bool loses_device(Status status) {
  return status == Status::Timeout || status == Status::DeviceLost;
}

std::vector<std::string> names_of(std::span<const TensorSpec> tensors) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : tensors) names.push_back(spec.name);
  return names;
}

/// A debugger that is attached gets a capture of the row's runs.
Assessment captured_assessment(Experiment& experiment, const Case& one, const DataSet& data) {
  const gpu::DebuggerCapture capture;
  return assess(experiment, one, data);
}

/// Host memory that rows hold which wait to be timed.
constexpr std::size_t most_waiting_bytes = std::size_t{1} << 30;
/// Of the device's memory, what rows may keep their originals in: 1/4.
constexpr std::uint64_t kept_share = 4;
/// Tensors that are smaller together go through the host: what the device would spare it is less than what
/// its kernels cost. Not where they are needed again for every block.
constexpr std::uint64_t worth_keeping_bytes = std::uint64_t{1} << 20;

std::uint64_t bytes_of_tensors(const Case& one) {
  std::uint64_t sum = 0;
  for (const Physical& physical : physical_tensors(one)) sum += static_cast<std::uint64_t>(physical.bytes());
  return sum;
}

/// All rows of a device. Those that are to be timed wait for each other, as many as memory allows, and take
/// turns by blocks: what the machine does meanwhile is then seen by some blocks of every row and not by all
/// blocks of some.
class DeviceRun {
 public:
  DeviceRun(gpu::Device& device, gpu::ShaderLibrary& shaders, const Expectations& expectations,
            const DeviceRunOptions& options, RunListener& listener)
      : device_(device),
        shaders_(shaders),
        expectations_(expectations),
        options_(options),
        listener_(listener),
        kept_{.limit = device.info().device_memory_bytes / kept_share} {}

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
    group->baselines = choose_baselines(planned, options_.baseline_impl);
    group->ended.assign(planned.size(), Status::Missing);
    running_ = nullptr;
    std::vector<std::unique_ptr<DeviceRow>> ready;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (lost()) {
        record_missing(planned[i]);
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
    std::vector<std::unique_ptr<DeviceRow>> rows = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    kept_.used = 0;  // of the rows that are judged after these have been timed
    if (!lost()) return measure_rows(rows);
    for (const auto& row : rows) finish(*row, {Status::Missing, "not timed: " + lost_because_});
  }

  void record_missing(const PlannedRow& planned) {
    Record record;
    record.info = row_info(planned, options_.names);
    record.status = Status::Missing;
    record.reason = "not run: " + lost_because_;
    record.repro = repro_of(planned);
    listener_.record(record);
  }

  bool lost() const { return !lost_because_.empty(); }

  /// Takes a row as far as it goes alone: recorded, or (mode perf) judged right and ready to be timed.
  std::unique_ptr<DeviceRow> run_row(const std::shared_ptr<RowGroup>& group, std::size_t index) {
    const PlannedRow& planned = group->planned[index];
    auto row = std::make_unique<DeviceRow>();
    row->group = group;
    row->index = index;
    row->versus = planned.versus;
    row->cache = planned.cache;
    row->one = planned.one;
    row->mode = planned.mode;
    row->record.info = row_info(planned, options_.names);
    take_messages();
    begin(*row);
    std::optional<Outcome> outcome = plan(*row);
    std::optional<Stopwatch> watch;
    if (!outcome) {
      outcome = outcome_of([&] {
        const DataSet& data = group->data_for(*row->one);
        watch.emplace();
        judge_row(*row, data);
      });
    }
    if (watch) row->judging_ms = watch->ms();
    if (outcome) {
      finish(*row, *outcome);
      return nullptr;
    }
    row->validation_messages = take_messages();
    const bool passed = row->record.status == Status::Pass;
    if (row->mode == Mode::Perf && passed) return row;
    finish(*row, {row->record.status, row->record.reason});
    return nullptr;
  }

  /// The reason not to run, if there is one; else the row's program is built.
  std::optional<Outcome> plan(DeviceRow& row) {
    const Case& one = *row.one;
    if (one.invalid) return Outcome{Status::Invalid, *one.invalid};
    const auto expectation = expectations_.find(device_.info().name, one.id);
    if (expectation && expectation->kind == Expectation::Kind::Skip)
      return Outcome{Status::Skipped, expectation->reason};
    std::optional<std::string> unsupported;
    const auto failure = outcome_of([&] {
      const BuildContext context{one.params, one.tensors, one.forms, device_.info(), one.tune};
      row.impl = &chosen_impl(*one.op, *one.impl, context);
      for (const Feature feature : row.impl->needs) {
        if (!device_.info().has(feature)) unsupported = fmt::format("{} is missing", name_of(feature));
      }
      if (unsupported) return;
      row.program = row.impl->build(context);
      unsupported = beyond_device(row);
    });
    if (failure) return failure;
    if (unsupported) return Outcome{Status::Unsupported, *unsupported};
    return std::nullopt;
  }

  /// Why the row's program cannot run here. A row that is timed gives up its guards where they are what
  /// does not fit.
  std::optional<std::string> beyond_device(DeviceRow& row) const {
    const Case& one = *row.one;
    const auto reason = [&](std::uint32_t guard) {
      return gpu::unsupported(*row.program, physical_tensors(one), row.impl->needs, device_.info(), guard,
                              names_of(one.tensors));
    };
    const std::optional<std::string> guarded = reason(row.guard);
    if (!guarded || row.mode != Mode::Perf || reason(0)) return guarded;
    row.guard = 0;
    return std::nullopt;
  }

  void judge_row(DeviceRow& row, const DataSet& data) {
    if (options_.dump) dump_program(dump_folder(row), *row.program, shaders_of(row));
    Experiment experiment(device_, shaders_of(row), *row.one, *row.program, *row.group->packed, row.guard,
                          originals_for(row));
    const Assessment assessment = captured_assessment(experiment, *row.one, data);
    experiment.release();
    if (options_.dump) dump_tensors(dump_folder(row), *row.one, data, assessment);
    row.record.status = assessment.status;
    row.record.reason = assessment.reason;
    row.record.accuracy = assessment.result;
    if (row.mode == Mode::Perf && assessment.status == Status::Pass)
      prepare_timing(row, data, assessment, experiment.take_originals());
  }

  /// Null where everything is to go through the host.
  std::unique_ptr<Originals> originals_for(const DeviceRow& row) {
    const std::uint64_t bytes = bytes_of_tensors(*row.one);
    if (bytes > kept_.limit || (row.mode == Mode::Accu && bytes < worth_keeping_bytes)) return nullptr;
    if (!memory_) memory_ = std::make_unique<gpu::DeviceMemory>(device_, shaders_);
    try {
      return std::make_unique<Originals>(device_, *memory_, *row.one, *row.group->packed);
    } catch (const gpu::OutOfMemory&) {
      return nullptr;
    }
  }

  std::filesystem::path dump_folder(const DeviceRow& row) const {
    return assay::dump_folder(*options_.dump, row.record.info.id);
  }

  /// What is timed has no guards, hence other code: its answer must be right too. It is that answer, bit
  /// by bit, which every block of samples is held against.
  void prepare_timing(DeviceRow& row, const DataSet& data, const Assessment& assessment,
                      std::unique_ptr<Originals> originals) {
    row.experiment = std::make_unique<Experiment>(device_, shaders_of(row), *row.one, *row.program,
                                                  *row.group->packed, 0U, std::move(originals));
    const Observation seen = row.experiment->run(Poison::B, Poison::A);
    row.experiment->release();
    judge_without_guards(row, data, assessment, seen);
    row.outputs = seen.outputs;
    const Originals* kept = row.experiment->originals();
    if (kept != nullptr && !kept_.take(kept->memory_bytes())) row.experiment->take_originals().reset();
    if (options_.handicap_pct > 0) handicap(row);
  }

  static void judge_without_guards(DeviceRow& row, const DataSet& data, const Assessment& assessment,
                                   const Observation& seen) {
    const bool is_judged = same_answer(seen.outputs, assessment.outputs);
    row.outputs_hash = is_judged ? assessment.result.output_hash : answer_hash_of(*seen.outputs);
    for (std::size_t i = 0; i < seen.outputs->size() && !is_judged; ++i) {
      if (judge(data.expected[i], (*seen.outputs)[i], row.one->tolerance.scale).pass) continue;
      row.record.status = Status::Fail;
      row.record.reason =
          "the answer is right with guards around the data, but wrong without: no time is given";
    }
    if (!seen.trespasses.empty()) {
      row.record.status = Status::Fail;
      row.record.reason = seen.trespasses.front().reason;
    }
  }

  /// What is timed from now on is the program and work of no use: a slowdown of known size.
  void handicap(DeviceRow& row) {
    const double ns = rough_time_ns(*row.experiment, row.one->timeout_s);
    const double burden_ns = ns * options_.handicap_pct / 100 - tools().ceilings.dispatch_us * 1e3;
    tools().pilot.burden(*row.program, std::max(burden_ns, 0.0));
    row.experiment = std::make_unique<Experiment>(device_, shaders_of(row), *row.one, *row.program,
                                                  *row.group->packed, 0U, row.experiment->take_originals());
  }

  void measure_rows(std::vector<std::unique_ptr<DeviceRow>>& rows) {
    // Baselines come first, in the list and to their end: what is compared must know how they ended.
    std::stable_partition(rows.begin(), rows.end(),
                          [](const auto& row) { return !row->group->baselines[row->index].wanted; });
    std::vector<TimedCase> timed;
    for (const auto& row : rows) {
      timed.push_back({row->one, row->experiment.get(), row->outputs, row->outputs_hash, row->cache,
                       row->impl == row->one->impl ? "" : row->impl->name, baseline_among(rows, *row),
                       [this, &row] {
                         credit_messages();
                         begin(*row);
                       }});
    }
    if (timed.empty()) return;
    take_messages();
    SamplingOptions sampling = options_.sampling;
    sampling.clock = &tools().clock;
    std::vector<Measurement> measurements = measure(timed, tools(), sampling);
    note_regret(timed, measurements);
    credit_messages();
    for (std::size_t i = 0; i < rows.size(); ++i) finish_measured(*rows[i], measurements[i]);
    running_ = nullptr;
  }

  /// What the validation layer has said since rows took turns last is about the one whose turn it was.
  void credit_messages() {
    const std::int64_t told = take_messages();
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
    row.ratio = measurement.ratio;
    const std::string& suspect = measurement.perf.suspect;
    finish(row, {suspect.empty() ? Status::Pass : Status::Suspect, suspect});
  }

  void finish(DeviceRow& row, Outcome outcome) {
    row.record.status = outcome.status;
    row.record.reason = std::move(outcome.reason);
    apply_expectation(row);
    row.record.validation_messages = row.validation_messages + take_messages();
    if (row.record.validation_messages > 0) blame_validation(row);
    if (row.group->baselines[row.index].wanted) row.record.comparison = comparison_of(row);
    row.record.repro = repro_of(row.group->planned[row.index]);
    row.group->ended[row.index] = row.record.status;
    row.record.total_ms = row.judging_ms + row.timing_ms;
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

  /// Where in `rows` the baseline of `row` stands, if it is timed.
  std::optional<std::size_t> baseline_among(const std::vector<std::unique_ptr<DeviceRow>>& rows,
                                            const DeviceRow& row) const {
    const std::optional<std::size_t> wanted = row.group->baselines[row.index].row;
    for (std::size_t i = 0; i < rows.size() && wanted; ++i) {
      if (rows[i]->group == row.group && rows[i]->index == *wanted) return i;
    }
    return std::nullopt;
  }

  /// The row's ratio, or why there is none.
  Comparison comparison_of(const DeviceRow& row) const {
    const std::optional<std::size_t> baseline = row.group->baselines[row.index].row;
    if (!baseline) {
      return {.note = fmt::format("no row of impl '{}' in the same forms is timed in this group",
                                  options_.baseline_impl)};
    }
    Comparison made{.baseline = row_info(row.group->planned[*baseline], options_.names).id};
    if (!row.record.perf) {
      made.note = fmt::format("this row is {}", name_of(row.record.status));
    } else if (row.group->ended[*baseline] != Status::Pass || !row.ratio) {
      made.note = fmt::format("its baseline {} is {}", made.baseline, name_of(row.group->ended[*baseline]));
    } else {
      made.ratio = row.ratio->median;
      made.ratio_low = row.ratio->interval.low;
      made.ratio_high = row.ratio->interval.high;
      made.blocks = row.ratio->pairs;
    }
    return made;
  }

  TimingTools& tools() {
    if (options_.tools != nullptr) return *options_.tools;
    if (!own_tools_) own_tools_ = std::make_unique<TimingTools>(device_, shaders_);
    return *own_tools_;
  }

  gpu::ShaderLibrary& shaders_of(const DeviceRow& row) const {
    return row.versus ? *options_.versus->library : shaders_;
  }

  std::string repro_of(const PlannedRow& planned) const {
    return repro_line(case_info(*planned.one, planned.mode),
                      planned.versus ? options_.versus->repro_options : options_.repro_options);
  }

  void apply_expectation(DeviceRow& row) {
    const auto expectation = expectations_.find(device_.info().name, row.one->id);
    if (!expectation || expectation->kind != Expectation::Kind::Fail) return;
    if (row.record.status == Status::Fail) {
      row.record.status = Status::ExpectedFail;
      row.record.reason = fmt::format("expected ({}): {}", expectation->reason, row.record.reason);
    } else if (row.record.status == Status::Pass) {
      row.record.status = Status::UnexpectedPass;
      row.record.reason = fmt::format("it passes, but {}:{} expects it to fail ({}): remove that rule",
                                      expectation->where.file, expectation->where.line, expectation->reason);
      row.record.perf.reset();
    }
  }

  /// A pass with validation messages is no pass: another driver may do anything with that program.
  void blame_validation(DeviceRow& row) {
    if (row.record.status != Status::Pass) return;
    row.record.status = Status::Fail;
    row.record.reason =
        fmt::format("the answer is right, but the validation layer has {} messages, the newest: {}",
                    row.record.validation_messages, options_.newest_validation_message());
    row.record.perf.reset();
  }

  /// Validation messages since this was asked last.
  std::int64_t take_messages() {
    const std::int64_t now = options_.validation_messages ? options_.validation_messages() : 0;
    return now - std::exchange(messages_before_, now);
  }

  gpu::Device& device_;
  gpu::ShaderLibrary& shaders_;
  const Expectations& expectations_;
  const DeviceRunOptions& options_;
  RunListener& listener_;
  KeptMemory kept_;                                  ///< for originals
  std::unique_ptr<gpu::DeviceMemory> memory_;        ///< once a row's tensors go that way
  std::vector<std::unique_ptr<DeviceRow>> waiting_;  ///< judged right, not timed yet
  std::size_t waiting_bytes_ = 0;
  DeviceRow* running_ = nullptr;  ///< the row that began last
  std::unique_ptr<TimingTools> own_tools_;
  std::int64_t messages_before_ = 0;
  std::string lost_because_;
};

}  // namespace

void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener) {
  DeviceRun(device, shaders, expectations, options, listener).run(groups);
}

}  // namespace assay
