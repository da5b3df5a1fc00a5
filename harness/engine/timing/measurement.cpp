#include "harness/engine/timing/measurement.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/engine/energy/energy_window.h"
#include "harness/engine/timing/repetition.h"
#include "harness/op/program.h"
#include "harness/op/roofline.h"
#include "harness/report/record/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

namespace assay {
namespace {

constexpr int side_pass_repeats = 5;  // throughput and shares are the median of this many passes
constexpr int most_measured_again = 2;
constexpr int repetitions = 7;          // of a batch, and of a program that runs alone
constexpr int settling_programs = 8;    // before batches are timed again after programs that ran alone
constexpr int programs_before_one = 2;  // before a program that runs alone: they keep the device awake
constexpr int suspicions = 5;           // consecutive findings before a row is SUSPECT
constexpr int batches_on_data = 2;      // on each of two data sets, to compare them

/// Samples one row's kernel time on its device.
class GpuSource : public SampleSource {
 public:
  GpuSource(const TimedRow& timed, TimingTools& tools, const SetPlan& plan, double max_submission_ns)
      : timed_(timed),
        tools_(&tools),
        updates_in_place_(is_updated_in_place(timed.test_case->tensors)),
        sets_(tools.device, tools.memory, timed.data, plan, updates_in_place_, timed.chance,
              max_submission_ns) {}

  /// A second program would find what the first one made of its data.
  int most_programs() const override { return updates_in_place_ ? 1 : SampleSource::most_programs(); }
  bool updates_in_place() const { return updates_in_place_; }
  /// Without barriers between programs, two of them would count in the same scratch at once.
  bool may_overlap() const {
    return !updates_in_place_ && zero_scratch(timed_.executable().program()).empty();
  }

  void open_block() override {
    if (timed_.begins) timed_.begins();
    watch_ = Stopwatch();
    sets_.open();
    filling_ms_ += watch_.ms();
  }

  Reading time_batch(int warm, int batch) override {
    const gpu::Timing timing = time({.warm = warm, .batch = batch, .probe = &tools_->probe.work()});
    return reading_of(timing);
  }

  Audit audit(int warm, int batch, double most_s) override {
    const Stopwatch watch;
    const RotatingSets::Audit found = sets_.audit(
        {.warm = warm, .batch = batch, .probe = &tools_->probe.work()}, most_s, timed_.test_case->timeout_s);
    submitted_s_ += watch.s();
    return {found.is_right, reading_of(found.first)};
  }

  std::uint64_t chance() override { return sets_.chance(); }

  bool close_block() override {
    const Stopwatch closing;
    const bool right = sets_.close(timed_.test_case->timeout_s);
    filling_ms_ += closing.ms();
    total_s_ += watch_.s();
    return right;
  }

  /// Memory that a device may still use is left to the end of the process.
  void abandon_block() override {
    if (tools_->device.alive()) sets_.abandon();
  }

  /// ns per program when programs may overlap.
  double throughput_ns(int warm, int batch) {
    std::vector<double> values;
    for (int i = 0; i < side_pass_repeats; ++i) {
      tell_timing();
      const gpu::Timing timing = time({.warm = warm, .batch = batch, .spacing = gpu::Spacing::Overlapped});
      values.push_back(timing.gpu_ns.value_or(timing.wall_ns) / batch);
    }
    return median(values);
  }

  std::vector<double> dispatch_ns() {
    std::vector<std::vector<double>> passes;
    const Stopwatch watch;
    for (int i = 0; i < side_pass_repeats; ++i) {
      tell_timing();
      passes.push_back(sets_.dispatch_ns(timed_.test_case->timeout_s));
    }
    submitted_s_ += watch.s();
    std::vector<double> medians;
    for (std::size_t d = 0; d < passes.front().size(); ++d) {
      std::vector<double> values;
      for (const auto& pass : passes) values.push_back(pass[d]);
      medians.push_back(median(values));
    }
    return medians;
  }

  /// Measures the time per program in several batches, then several programs that run alone. The two do not
  /// alternate: a lone program finds its outputs overwritten, so the next programs would have to do that work
  /// again; settle() lets them. Nothing without timestamps.
  std::optional<Repetition> repetition(int warm, int batch) {
    std::vector<double> batches;
    std::vector<double> isolated;
    for (int i = 0; i < repetitions; ++i) {
      tell_timing();
      batches.push_back(time_batch(warm, batch).ns / batch);
    }
    const Stopwatch watch;
    for (int i = 0; i < repetitions; ++i) {
      tell_timing();
      const auto ns = sets_.isolated_ns(programs_before_one, timed_.test_case->timeout_s);
      if (!ns) return std::nullopt;
      isolated.push_back(*ns);
    }
    submitted_s_ += watch.s();
    return repetition_of(isolated, batches);
  }

  void settle(int warm, int batch) {
    for (int programs = 0; programs < settling_programs; programs += warm + batch) {
      tell_timing();
      time_batch(warm, batch);
    }
  }

  /// Times the programs of a hot row on either data set alone, in turn.
  DataTimes data_times(int warm, int batch) {
    std::array<std::vector<double>, 2> batches_ns;
    const Stopwatch watch;
    for (int i = 0; i < 2 * batches_on_data; ++i) {
      tell_timing();
      const std::size_t data = i % 2;
      const double ns = sets_.batch_ns_on(data, {.warm = warm, .batch = batch}, timed_.test_case->timeout_s);
      batches_ns.at(data).push_back(ns / batch);
    }
    submitted_s_ += watch.s();
    return data_times_of(batches_ns[0], batches_ns[1]);
  }

  /// Time of all setup dispatches together in ns; 0: there are none.
  double setup_ns() {
    std::vector<double> values;
    const Stopwatch watch;
    for (int i = 0; i < side_pass_repeats; ++i) {
      tell_timing();
      values.push_back(sets_.setup_ns(timed_.test_case->timeout_s));
    }
    submitted_s_ += watch.s();
    return median(values);
  }

  /// Runs programs of `program_us` each back to back and measures their energy.
  WindowResult energy(double program_us, const std::function<bool()>& stop_requested) {
    const int programs = programs_in_submission(program_us, sets_.sets_of_round());
    const Stopwatch watch;
    const auto run_programs = [&] {
      sets_.run_in_window({.batch = programs}, timed_.test_case->timeout_s);
      return std::int64_t{programs};
    };
    WindowResult found = measure_energy(*tools_->energy, run_programs, stop_requested, tools_->energy_window);
    submitted_s_ += watch.s();
    return found;
  }

  bool wall_clock() const { return wall_clock_; }
  double submitted_s() const { return submitted_s_; }
  double total_s() const { return total_s_; }
  double filling_ms() const { return filling_ms_; }
  const RotatingSets& sets() const { return sets_; }

 private:
  static Reading reading_of(const gpu::Timing& timing) {
    return {timing.gpu_ns.value_or(timing.wall_ns), timing.probe_ns.value_or(0)};
  }

  /// Says that the row goes on: all passes of a slow program together take longer than a supervisor waits.
  void tell_timing() { tools_->device.tell_phase(Phase::Timing); }

  gpu::Timing time(const gpu::TimedRun& run) {
    const Stopwatch watch;
    const gpu::Timing timing = sets_.time(run, timed_.test_case->timeout_s);
    wall_clock_ = !timing.gpu_ns.has_value();
    submitted_s_ += watch.s();
    return timing;
  }

  TimedRow timed_;
  TimingTools* tools_;
  bool updates_in_place_;
  RotatingSets sets_;
  bool wall_clock_ = false;
  double submitted_s_ = 0;
  Stopwatch watch_;  ///< time of the open block
  double total_s_ = 0;
  double filling_ms_ = 0;
};

/// One row that is being sampled; it has no source if it was refused.
struct Timed {
  const TimedRow* row = nullptr;
  SetPlan plan;
  std::unique_ptr<GpuSource> source;
  std::vector<Block> blocks;  ///< blocks of an earlier attempt come first
};

/// Describes how a program's time is divided among its dispatches, which a separate pass measures.
void describe_shares(const Program& program, const std::vector<double>& shares_ns, PerfResult& perf) {
  std::size_t next = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    if (dispatch.role == DispatchRole::Setup || next == shares_ns.size()) continue;
    const double us = shares_ns[next++] / ns_per_us;
    perf.dispatches.push_back({dispatch.label, std::string(name_of(dispatch.role)), us});
    if (dispatch.role == DispatchRole::Transition) perf.time_transition_us += us;
  }
}

/// The trust in the clock for this row, as reports state it.
std::string timer_of(const TimerCalibration& timer, const PerfResult& perf) {
  const double sample_ns = perf.time_us_p50 * ns_per_us * perf.batch;
  const bool is_short = timer.unit_ns > 0 && sample_ns < units_per_sample * timer.unit_ns;
  return std::string(
      name_of(timer.quality == TimerQuality::Good && is_short ? TimerQuality::Coarse : timer.quality));
}

void describe_clock(const GpuSource& source, const TimingTools& tools, const Samples& samples,
                    PerfResult& perf) {
  perf.clock = source.wall_clock() ? "wall" : "gpu";
  perf.timer = timer_of(tools.timer, perf);
  if (samples.probe_ns > 0) perf.clock_ratio = tools.clock.full_clock_ns() / samples.probe_ns;
}

int timed_dispatches(const Program& program) {
  return static_cast<int>(std::ranges::count_if(
      program.dispatches, [](const Dispatch& dispatch) { return dispatch.role != DispatchRole::Setup; }));
}

/// Computes the roofline. A row above the ceilings may mean that the ceilings are too low, so they are
/// measured once more before the row is suspected.
Roofline hold_against_ceilings(const Work& work, const TimedProgram& program, TimingTools& tools) {
  const double limit_pct = tools.device.info().is_cpu() ? suspect_above_pct_on_cpu : suspect_above_pct;
  Roofline found = roofline(tools.ceilings, work, program, limit_pct);
  if (found.suspect.empty() || !tools.measure_again || tools.measured_again == most_measured_again)
    return found;
  ++tools.measured_again;
  tools.measure_again();
  return roofline(tools.ceilings, work, program, limit_pct);
}

void describe_work(const TimedRow& timed, const SetPlan& plan, TimingTools& tools, PerfResult& perf) {
  const Work work = timed.test_case->op->work(timed.test_case->params, timed.test_case->tensors);
  perf.bytes = work.bytes_read + work.bytes_written;
  perf.bytes_read = work.bytes_read;
  perf.operations = work.operations;
  const TimedProgram program{.time_us = perf.time_us_p50,
                             .cache = timed.cache,
                             .ceiling = timed.ceiling,
                             .dispatches = timed_dispatches(timed.executable().program()),
                             .input_sets = plan.kind == InputSets::AlternateByProgram ? plan.sets : 1};
  const Roofline found = hold_against_ceilings(work, program, tools);
  perf.ceiling = name_of(program.ceiling);
  perf.peak_gbps = found.peak_gbps;
  perf.peak_gops = found.peak_gops;
  perf.pct_peak_bw = found.pct_peak_bw;
  perf.pct_peak_ops = found.pct_peak_ops;
  perf.limited_by = found.limited_by;
  perf.suspect = found.suspect;
}

/// Compares programs that run alone with those in batches. A suspicion must be confirmed several times.
void describe_repetition(const Timed& timed, const TimingTools& tools, const Samples& samples,
                         PerfResult& perf) {
  const TimedRow& row = *timed.row;
  const int dispatches = timed_dispatches(row.executable().program());
  std::string suspect;
  for (int i = 0; i == 0 || (!suspect.empty() && i < suspicions); ++i) {
    if (i > 0) timed.source->settle(samples.warm, samples.batch);
    std::optional<Repetition> found = timed.source->repetition(samples.warm, samples.batch);
    if (!found || !is_long_enough(found->isolated_us, dispatches, tools.ceilings, tools.timer.unit_ns))
      return;
    found->dispatches = dispatches;
    found->bytes = perf.bytes;
    found->is_cpu = tools.device.info().is_cpu();
    perf.isolated_us = found->isolated_us;
    suspect = faster_when_repeated(*found, tools.ceilings);
  }
  if (perf.suspect.empty()) perf.suspect = suspect;
}

/// Compares times on data that the shader may know with times on data that it cannot. A suspicion must be
/// confirmed several times.
void describe_data(const Timed& timed, const TimingTools& tools, const Samples& samples, PerfResult& perf) {
  const InputSets kind = timed.plan.kind;
  const bool alternates = kind == InputSets::AlternateByProgram || kind == InputSets::AlternateByBatch;
  if (!timed.row->has_known_data || !alternates) return;
  std::string suspect;
  for (int i = 0; i == 0 || (!suspect.empty() && i < suspicions); ++i) {
    DataTimes found = timed.source->data_times(samples.warm, samples.batch);
    found.is_cpu = tools.device.info().is_cpu();
    suspect = faster_on_known_data(found);
  }
  if (perf.suspect.empty()) perf.suspect = suspect;
}

void describe_program(const TimedRow& timed, const GpuSource& source, PerfResult& perf) {
  const gpu::Executable& executable = timed.executable();
  const gpu::ExecutableStatistics statistics = executable.statistics();
  perf.output_hash = timed.judged_hash;
  perf.compile_ms = executable.compile_ms();
  perf.spirv_hash = executable.spirv_hash();
  perf.impl_auto = timed.impl_auto;
  perf.program_hash = source.sets().program_hash();
  perf.registers = statistics.registers;
  perf.spill_bytes = statistics.spill_bytes;
  perf.shared_bytes = statistics.shared_bytes;
  perf.memory_bytes = static_cast<std::int64_t>(source.sets().memory_bytes());
}

/// Runs `body`, and returns why it failed; empty: it did not. What fails a row passes through, as does what
/// is no fault of the row: a device that is lost or hangs, a journal that cannot be written.
std::string failure_of_window(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() == ExitCode::Infrastructure) throw;
    return error.what();
  } catch (const std::bad_alloc&) {
    return "the host has no memory left for the window in which energy is measured";
  } catch (const std::system_error& error) {
    return fmt::format("no thread reads the meter: {}", error.what());
  }
  return "";
}

/// Measures energy in a block of its own, whose outputs are compared as those of timed blocks are.
void measure_in_window(const Timed& timed, const std::function<bool()>& stop_requested,
                       Measurement& measurement) {
  GpuSource& source = *timed.source;
  PerfResult& perf = measurement.perf;
  source.open_block();
  WindowResult found = source.energy(perf.time_us_p50, stop_requested);
  if (found.is_stopped) {
    source.abandon_block();
    measurement = {.stopped = true};
    return;
  }
  measurement.verified = source.close_block();  // no audit, which would poison what the window has written
  measurement.changed_scratch = source.sets().changed_scratch();
  measurement.changed_memory = source.sets().changed_memory();
  perf.verified = measurement.verified;
  perf.energy = std::move(found.energy);
  perf.no_energy = std::move(found.why_not);
}

/// Adds its energy to a row that has a time. A window that fails leaves the time as it is. One that a stop
/// ends, or prevents, stops the row: a run that resumes this one measures it, with the blocks that it has.
void describe_energy(const Timed& timed, const std::function<bool()>& stop_requested,
                     Measurement& measurement) {
  PerfResult& perf = measurement.perf;
  if (timed.source->updates_in_place()) {
    perf.no_energy = "the program updates an output in place, so that its runs cannot be back to back";
    return;
  }
  if (stop_requested && stop_requested()) {
    measurement = {.stopped = true};
    return;
  }
  const std::string failure =
      failure_of_window([&] { measure_in_window(timed, stop_requested, measurement); });
  if (failure.empty()) return;
  timed.source->abandon_block();
  perf.no_energy = failure;
}

Measurement describe(const Timed& timed, TimingTools& tools, const Samples& samples) {
  GpuSource& source = *timed.source;
  Measurement measurement{.verified = samples.verified};
  PerfResult& perf = measurement.perf;
  describe_blocks(timed.blocks, perf);
  perf.stop = samples.stop;
  perf.discarded = samples.discarded;
  perf.sets = timed.plan.sets;
  source.open_block();
  if (source.may_overlap())
    perf.throughput_us = source.throughput_ns(samples.warm, samples.batch) / ns_per_us;
  describe_shares(timed.row->executable().program(), source.dispatch_ns(), perf);
  perf.setup_us = source.setup_ns() / ns_per_us;
  describe_work(*timed.row, timed.plan, tools, perf);
  if (!source.updates_in_place()) describe_repetition(timed, tools, samples, perf);
  describe_data(timed, tools, samples, perf);
  const bool is_audit_right = source.audit(samples.warm, samples.batch, 0).is_right;
  measurement.verified = source.close_block() && is_audit_right;
  measurement.changed_scratch = source.sets().changed_scratch();
  measurement.changed_memory = source.sets().changed_memory();
  describe_clock(source, tools, samples, perf);
  describe_program(*timed.row, source, perf);
  perf.verified = measurement.verified;
  perf.verified_pct = source.sets().verified_pct();
  return measurement;
}

/// Why a program that updates an output in place, and is therefore timed alone, has no time; empty: it has
/// one.
std::string why_untimed_alone(const GpuSource& source, const TimingTools& tools, const Samples& samples) {
  if (!source.updates_in_place()) return "";
  constexpr const char* alone =
      "the program updates an output in place, so that it is timed alone, once per submission";
  if (source.wall_clock())
    return fmt::format("{}; the device has no timestamps, and the CPU's clock cannot time that", alone);
  const double program_ns = median(samples.block_medians());
  const double least_ns = units_per_sample * tools.timer.unit_ns;
  if (program_ns >= least_ns) return "";
  return fmt::format("{}; it takes {:.0f} ns, and a time needs at least {:.0f} ns, {:.0f} units of the timer",
                     alone, program_ns, least_ns, units_per_sample);
}

Measurement conclude(const Timed& timed, TimingTools& tools, const Samples& samples,
                     const std::function<bool()>& stop_requested) try {
  if (samples.failure) return {.failure = samples.failure};
  if (samples.stopped) return {.stopped = true};
  if (!samples.verified) {
    return {.verified = false,
            .changed_scratch = timed.source->sets().changed_scratch(),
            .changed_memory = timed.source->sets().changed_memory()};
  }
  const std::string untimed = why_untimed_alone(*timed.source, tools, samples);
  if (!untimed.empty()) return {.refusal = untimed};
  Measurement measurement = describe(timed, tools, samples);
  if (tools.energy && measurement.verified) describe_energy(timed, stop_requested, measurement);
  return measurement;
} catch (...) {
  timed.source->abandon_block();
  return {.failure = std::current_exception()};
}

/// Rows with the same baseline form a comparison group with it.
std::vector<std::size_t> comparison_groups_of(std::span<const TimedRow> rows, std::span<const Timed> timed) {
  std::vector<std::size_t> comparison_groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (timed[i].source) comparison_groups.push_back(rows[i].baseline.value_or(i));
  }
  return comparison_groups;
}

/// The bytes of a row's tensors: more than its programs move where they touch a part of a tensor.
std::int64_t held_bytes_of(const Case& test_case) {
  std::int64_t bytes = 0;
  for (const Physical& tensor : physical_tensors(test_case)) bytes += tensor.bytes();
  return bytes;
}

SetPlan plan_of(const TimedRow& row, const TimingTools& tools) {
  const Work work = row.test_case->op->work(row.test_case->params, row.test_case->tensors);
  const std::int64_t bytes = work.bytes_read + work.bytes_written;
  const std::uint64_t memory = tools.device.info().device_memory_bytes;
  if (row.cache == Cache::Cold)
    return cold_sets(bytes, tools.ceilings.cache_bytes, memory, held_bytes_of(*row.test_case));
  return row.data.size() > 1 ? hot_sets(bytes, tools.ceilings.cache_bytes, memory) : SetPlan{};
}

/// Prepares the sets of tensors of each row.
std::vector<Timed> prepare(std::span<const TimedRow> rows, TimingTools& tools, double max_submission_ns) {
  std::vector<Timed> timed;
  for (const TimedRow& row : rows) {
    Timed& made = timed.emplace_back();
    made.row = &row;
    made.blocks = row.before.blocks;
    made.plan = plan_of(row, tools);
    if (made.plan.refusal.empty())
      made.source = std::make_unique<GpuSource>(row, tools, made.plan, max_submission_ns);
  }
  return timed;
}

std::vector<std::optional<Samples>> sample(std::span<const TimedRow> rows, std::vector<Timed>& timed,
                                           SamplingOptions options, const SystemSensors& sensors) {
  std::vector<SampleSource*> sources;
  std::vector<SampledBefore> before;
  std::vector<Timed*> sampled;
  for (Timed& row : timed) {
    if (!row.source) continue;
    sources.push_back(row.source.get());
    before.push_back(row.row->before);
    sampled.push_back(&row);
  }
  options.block_ended = [&](std::size_t source, Block block) {
    Timed& row = *sampled[source];
    block.system = sensors.read();
    row.blocks.push_back(block);
    if (row.row->block_ended) row.row->block_ended(block);
  };
  std::vector<Samples> taken =
      sample_interleaved(sources, options, comparison_groups_of(rows, timed), before);
  std::vector<std::optional<Samples>> samples(timed.size());
  auto next = taken.begin();
  for (std::size_t i = 0; i < timed.size(); ++i) {
    if (timed[i].source) samples[i] = std::move(*next++);
  }
  return samples;
}

}  // namespace

std::vector<Measurement> measure(std::span<const TimedRow> rows, TimingTools& tools,
                                 const SamplingOptions& options) {
  std::vector<Timed> timed = prepare(rows, tools, options.max_submission_ns);
  const std::vector<std::optional<Samples>> samples = sample(rows, timed, options, tools.sensors);
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!samples[i]) {
      measurements.push_back({.refusal = timed[i].plan.refusal});
      continue;
    }
    measurements.push_back(conclude(timed[i], tools, *samples[i], options.stop_requested));
    measurements.back().perf.submitted_ms = timed[i].source->submitted_s() * 1e3;
    measurements.back().total_s = timed[i].source->total_s();
    measurements.back().spent = {.filling_ms = timed[i].source->filling_ms(),
                                 .heating_ms = samples[i]->heating_s * 1e3,
                                 .resting_ms = samples[i]->resting_s * 1e3};
  }
  return measurements;
}

double rough_time_ns(Experiment& experiment, double timeout_s) {
  constexpr double wanted_ns = 2e6;
  constexpr int readings = 9;
  const bool is_alone = experiment.updates_in_place();
  gpu::Workspace workspace = experiment.fresh_workspace(Poison::B);
  const auto time = [&](int batch) {
    if (is_alone) experiment.poison_outputs(workspace, Poison::B);
    const gpu::TimedRun run{.warm = is_alone ? 0 : 1, .batch = is_alone ? 1 : batch};
    const gpu::Timing timing = experiment.executable().time(workspace, run, timeout_s);
    return timing.gpu_ns ? *timing.gpu_ns / run.batch : timing.wall_ns / (run.warm + run.batch);
  };
  const int batch = static_cast<int>(std::clamp(wanted_ns / std::max(time(1), 1.0), 1.0, 1000.0));
  std::vector<double> times;
  for (int i = 0; i < readings; ++i) times.push_back(time(batch));
  return median(times);
}

}  // namespace assay
