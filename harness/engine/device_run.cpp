#include "harness/engine/device_run.h"

#include "harness/engine/accuracy.h"
#include "harness/engine/case_info.h"
#include "harness/engine/dump.h"
#include "harness/engine/judge.h"
#include "harness/engine/measurement.h"
#include "harness/engine/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
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

/// One row on its way from plan to record.
struct Row {
  std::size_t index = 0;  ///< in its group
  bool versus = false;
  Cache cache = Cache::Hot;
  const Case* one = nullptr;
  const Impl* impl = nullptr;  ///< the case's, or the one that it chooses
  Mode mode = Mode::Accu;
  Record record;
  double judging_ms = 0;  ///< planning, judging and preparing to be timed
  double timing_ms = 0;
  std::optional<Program> program;
  std::uint32_t guard = gpu::guard_bytes;  ///< around the data while the row is judged
  std::unique_ptr<Experiment> experiment;  ///< mode perf: what is timed, without guards
  std::vector<HostTensor> outputs;         ///< mode perf: of that experiment, accepted by the reference
  std::int64_t validation_messages = 0;    ///< while it was judged
  std::optional<Ratio> ratio;              ///< to the time of its baseline
};

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

class GroupRun {
 public:
  GroupRun(gpu::Device& device, gpu::ShaderLibrary& shaders, const Expectations& expectations,
           const DeviceRunOptions& options, RunListener& listener)
      : device_(device),
        shaders_(shaders),
        expectations_(expectations),
        options_(options),
        listener_(listener) {}

  /// Runs one group. After the device is lost, here or before, its rows are recorded as MISSING.
  void run(const PlannedGroup& planned) {
    group_ = planned;
    baselines_ = choose_baselines(planned, options_.baseline_impl);
    ended_.assign(planned.size(), Status::Missing);
    running_.reset();
    std::vector<std::unique_ptr<Row>> timed;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (lost()) {
        record_missing(planned[i]);
        continue;
      }
      std::unique_ptr<Row> ready = run_row(i);
      if (ready) timed.push_back(std::move(ready));
    }
    if (!lost()) {
      measure_rows(timed);
    } else {
      for (const auto& row : timed) finish(*row, {Status::Missing, "not timed: " + lost_because_});
    }
    packed_.reset();
    data_.reset();
  }

 private:
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
  std::unique_ptr<Row> run_row(std::size_t index) {
    const PlannedRow& planned = group_[index];
    auto row = std::make_unique<Row>();
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
        const DataSet& data = data_for(*row->one);
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
  std::optional<Outcome> plan(Row& row) {
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
  std::optional<std::string> beyond_device(Row& row) const {
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

  void judge_row(Row& row, const DataSet& data) {
    if (options_.dump) dump_program(dump_folder(row), *row.program, shaders_of(row));
    Experiment experiment(device_, shaders_of(row), *row.one, *row.program, *packed_, row.guard);
    const Assessment assessment = captured_assessment(experiment, *row.one, data);
    experiment.release();
    if (options_.dump) dump_tensors(dump_folder(row), *row.one, data, assessment);
    row.record.status = assessment.status;
    row.record.reason = assessment.reason;
    row.record.accuracy = assessment.result;
    if (row.mode == Mode::Perf && assessment.status == Status::Pass) prepare_timing(row, data);
  }

  std::filesystem::path dump_folder(const Row& row) const {
    return assay::dump_folder(*options_.dump, row.record.info.id);
  }

  /// What is timed has no guards, hence other code: its answer must be right too. It is that answer, bit
  /// by bit, which every block of samples is held against.
  void prepare_timing(Row& row, const DataSet& data) {
    row.experiment =
        std::make_unique<Experiment>(device_, shaders_of(row), *row.one, *row.program, *packed_, 0U);
    Observation seen = row.experiment->run(Poison::B, Poison::A);
    row.experiment->release();
    for (std::size_t i = 0; i < seen.outputs.size(); ++i) {
      if (judge(data.expected[i], seen.outputs[i], row.one->tolerance.scale).pass) continue;
      row.record.status = Status::Fail;
      row.record.reason =
          "the answer is right with guards around the data, but wrong without: no time is given";
    }
    if (!seen.trespasses.empty()) {
      row.record.status = Status::Fail;
      row.record.reason = seen.trespasses.front().reason;
    }
    row.outputs = std::move(seen.outputs);
    if (options_.handicap_pct > 0) handicap(row);
  }

  /// What is timed from now on is the program and work of no use: a slowdown of known size.
  void handicap(Row& row) {
    const double ns = rough_time_ns(*row.experiment, row.one->timeout_s);
    const double burden_ns = ns * options_.handicap_pct / 100 - tools().ceilings.dispatch_us * 1e3;
    tools().pilot.burden(*row.program, std::max(burden_ns, 0.0));
    row.experiment =
        std::make_unique<Experiment>(device_, shaders_of(row), *row.one, *row.program, *packed_, 0U);
  }

  /// The group's inputs and expected outputs, made when the first row needs them.
  const DataSet& data_for(const Case& one) {
    if (!data_) {
      data_ = make_data_set(one);
      packed_.emplace(data_->inputs);
    }
    return *data_;
  }

  void measure_rows(std::vector<std::unique_ptr<Row>>& rows) {
    // Baselines come first, in the list and to their end: what is compared must know how they ended.
    std::stable_partition(rows.begin(), rows.end(),
                          [&](const auto& row) { return !baselines_[row->index].wanted; });
    std::vector<TimedCase> timed;
    for (const auto& row : rows) {
      timed.push_back({row->one, row->experiment.get(), &row->outputs, row->cache,
                       row->impl == row->one->impl ? "" : row->impl->name, baseline_among(rows, *row),
                       [this, &row] { begin(*row); }});
    }
    if (timed.empty()) return;
    take_messages();
    SamplingOptions sampling = options_.sampling;
    sampling.clock = &tools().clock;
    std::vector<Measurement> measurements = measure(timed, tools(), sampling);
    note_regret(timed, measurements);
    // The rows of a group are timed together: nobody can tell whose program the messages are about.
    const std::int64_t told = take_messages();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i]->validation_messages += told;
      finish_measured(*rows[i], measurements[i]);
    }
  }

  void finish_measured(Row& row, const Measurement& measurement) {
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

  void finish(Row& row, Outcome outcome) {
    row.record.status = outcome.status;
    row.record.reason = std::move(outcome.reason);
    apply_expectation(row);
    row.record.validation_messages = row.validation_messages + take_messages();
    if (row.record.validation_messages > 0) blame_validation(row);
    if (baselines_[row.index].wanted) row.record.comparison = comparison_of(row);
    row.record.repro = repro_of(group_[row.index]);
    ended_[row.index] = row.record.status;
    row.record.total_ms = row.judging_ms + row.timing_ms;
    if (loses_device(row.record.status))
      lost_because_ = fmt::format("the device was lost by {}", row.record.info.id);
    listener_.record(row.record);
    row.experiment.reset();
  }

  /// Rows that are timed together take turns: the listener knows at any time whose program runs.
  void begin(const Row& row) {
    if (running_ == row.index) return;
    running_ = row.index;
    listener_.begin(row.record.info);
  }

  /// Where in `rows` the baseline of `row` stands, if it is timed.
  std::optional<std::size_t> baseline_among(const std::vector<std::unique_ptr<Row>>& rows,
                                            const Row& row) const {
    for (std::size_t i = 0; i < rows.size() && baselines_[row.index].row; ++i) {
      if (rows[i]->index == *baselines_[row.index].row) return i;
    }
    return std::nullopt;
  }

  /// The row's ratio, or why there is none.
  Comparison comparison_of(const Row& row) const {
    const std::optional<std::size_t> baseline = baselines_[row.index].row;
    if (!baseline) {
      return {.note = fmt::format("no row of impl '{}' in the same forms is timed in this group",
                                  options_.baseline_impl)};
    }
    Comparison made{.baseline = row_info(group_[*baseline], options_.names).id};
    if (!row.record.perf) {
      made.note = fmt::format("this row is {}", name_of(row.record.status));
    } else if (ended_[*baseline] != Status::Pass || !row.ratio) {
      made.note = fmt::format("its baseline {} is {}", made.baseline, name_of(ended_[*baseline]));
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

  gpu::ShaderLibrary& shaders_of(const Row& row) const {
    return row.versus ? *options_.versus->library : shaders_;
  }

  std::string repro_of(const PlannedRow& planned) const {
    return repro_line(case_info(*planned.one, planned.mode),
                      planned.versus ? options_.versus->repro_options : options_.repro_options);
  }

  void apply_expectation(Row& row) {
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
  void blame_validation(Row& row) {
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
  PlannedGroup group_;
  std::vector<Baseline> baselines_;     ///< of each row
  std::vector<Status> ended_;           ///< of each row; MISSING until it has ended
  std::optional<std::size_t> running_;  ///< index of the row that began last
  std::optional<DataSet> data_;
  std::optional<PackedInputs> packed_;  ///< of data_
  std::unique_ptr<TimingTools> own_tools_;
  std::int64_t messages_before_ = 0;
  std::string lost_because_;
};

}  // namespace

void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener) {
  GroupRun run(device, shaders, expectations, options, listener);
  for (const PlannedGroup& group : groups) run.run(group);
}

}  // namespace assay
