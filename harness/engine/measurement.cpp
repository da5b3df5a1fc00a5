#include "harness/engine/measurement.h"

#include "harness/core/hash.h"
#include "harness/core/statistics.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace assay {
namespace {

constexpr int side_pass_repeats = 5;  // throughput and shares: the median of so many passes
constexpr double ns_per_us = 1e3;

/// Samples one case's kernel time on its device.
class GpuSource : public SampleSource {
 public:
  explicit GpuSource(const TimedCase& timed) : timed_(timed) {}

  void open_block() override {
    if (timed_.begins) timed_.begins();
    workspace_.emplace(timed_.experiment->fresh_workspace(Poison::B));
  }

  double time_batch(int warm, int batch) override { return time({.warm = warm, .batch = batch}); }

  bool close_block() override {
    const bool right = same_bytes(timed_.experiment->read_outputs(*workspace_), *timed_.judged);
    workspace_.reset();
    return right;
  }

  /// ns per program when programs overlap.
  double throughput_ns(int warm, int batch) {
    std::vector<double> values;
    for (int i = 0; i < side_pass_repeats; ++i) {
      values.push_back(time({.warm = warm, .batch = batch, .spacing = gpu::Spacing::Overlapped}) / batch);
    }
    return median(values);
  }

  std::vector<double> dispatch_ns() {
    std::vector<std::vector<double>> passes;
    for (int i = 0; i < side_pass_repeats; ++i) {
      passes.push_back(timed_.experiment->executable().dispatch_ns(*workspace_, timed_.one->timeout_s));
    }
    std::vector<double> medians;
    for (std::size_t d = 0; d < passes.front().size(); ++d) {
      std::vector<double> values;
      for (const auto& pass : passes) values.push_back(pass[d]);
      medians.push_back(median(values));
    }
    return medians;
  }

  bool wall_clock() const { return wall_clock_; }

 private:
  double time(const gpu::TimedRun& run) {
    const gpu::Timing timing = timed_.experiment->executable().time(*workspace_, run, timed_.one->timeout_s);
    wall_clock_ = !timing.gpu_ns.has_value();
    return timing.gpu_ns.value_or(timing.wall_ns);
  }

  TimedCase timed_;
  std::optional<gpu::Workspace> workspace_;
  bool wall_clock_ = false;
};

void describe_samples(const Samples& samples, PerfResult& perf) {
  const std::vector<double> all = samples.all();
  const Summary summary = summarize(all);
  perf.time_us_min = summary.min / ns_per_us;
  perf.time_us_p25 = summary.p25 / ns_per_us;
  perf.time_us_p50 = summary.p50 / ns_per_us;
  perf.time_us_p75 = summary.p75 / ns_per_us;
  perf.time_us_mean = summary.mean / ns_per_us;
  perf.time_us_stdev = summary.stdev / ns_per_us;
  const std::vector<double> medians = samples.block_medians();
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  perf.spread_pct = summary.p50 > 0 ? 100 * (*high - *low) / summary.p50 : 0;
  perf.ci_pct = samples.interval_pct;
  perf.blocks = static_cast<int>(samples.blocks.size());
  perf.samples = static_cast<int>(all.size());
  perf.batch = samples.batch;
  perf.stop = samples.stop;
  for (const auto& block : samples.blocks) {
    std::vector<double>& out = perf.sample_us.emplace_back();
    for (const double ns : block) out.push_back(ns / ns_per_us);
  }
}

/// The pass of its own that says how a program's time divides among its dispatches.
void describe_shares(const Program& program, const std::vector<double>& shares_ns, PerfResult& perf) {
  std::size_t next = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    if (dispatch.role == DispatchRole::Setup || next == shares_ns.size()) continue;
    const bool transition = dispatch.role == DispatchRole::Transition;
    const double us = shares_ns[next++] / ns_per_us;
    perf.dispatches.push_back({dispatch.label, transition ? "transition" : "op", us});
    if (transition) perf.time_transition_us += us;
  }
}

Measurement describe(GpuSource& source, const TimedCase& timed, const Samples& samples) {
  Measurement measurement{.verified = samples.verified};
  PerfResult& perf = measurement.perf;
  describe_samples(samples, perf);
  source.open_block();
  perf.throughput_us = source.throughput_ns(samples.warm, samples.batch) / ns_per_us;
  describe_shares(timed.experiment->executable().program(), source.dispatch_ns(), perf);
  measurement.verified = source.close_block();
  const Work work = timed.one->op->work(timed.one->params, timed.one->tensors);
  perf.bytes = work.bytes_read + work.bytes_written;
  perf.operations = work.operations;
  perf.clock = source.wall_clock() ? "wall" : "gpu";
  perf.verified = measurement.verified;
  perf.output_hash = answer_hash_of(*timed.judged);
  perf.compile_ms = timed.experiment->executable().compile_ms();
  perf.spirv_hash = timed.experiment->executable().spirv_hash();
  return measurement;
}

Measurement conclude(GpuSource& source, const TimedCase& timed, const Samples& samples) try {
  if (samples.failure) return {.failure = samples.failure};
  if (!samples.verified) return {.verified = false};
  return describe(source, timed, samples);
} catch (...) {
  return {.failure = std::current_exception()};
}

/// Cases that are compared with one baseline are a team with it.
std::vector<std::size_t> teams_of(std::span<const TimedCase> cases) {
  std::vector<std::size_t> teams;
  for (std::size_t i = 0; i < cases.size(); ++i) teams.push_back(cases[i].baseline.value_or(i));
  return teams;
}

void compare(std::span<const TimedCase> cases, std::span<const Samples> samples,
             std::vector<Measurement>& measurements) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].baseline || !measurements[i].verified) continue;
    const std::size_t baseline = *cases[i].baseline;
    if (!measurements[baseline].verified) continue;
    measurements[i].ratio = paired_ratio(samples[i].block_medians(), samples[baseline].block_medians());
  }
}

}  // namespace

std::vector<Measurement> measure(std::span<const TimedCase> cases, const SamplingOptions& options) {
  std::vector<std::unique_ptr<GpuSource>> sources;
  std::vector<SampleSource*> pointers;
  for (const TimedCase& timed : cases) {
    sources.push_back(std::make_unique<GpuSource>(timed));
    pointers.push_back(sources.back().get());
  }
  const std::vector<Samples> samples = sample_interleaved(pointers, options, teams_of(cases));
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < cases.size(); ++i)
    measurements.push_back(conclude(*sources[i], cases[i], samples[i]));
  compare(cases, samples, measurements);
  return measurements;
}

}  // namespace assay
