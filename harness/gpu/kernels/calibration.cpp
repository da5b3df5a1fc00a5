#include "harness/gpu/kernels/calibration.h"

#include "harness/base/clock.h"
#include "harness/base/statistics.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::gpu {
namespace {

constexpr double units_per_sample = 50;  // the same as in the sampler
constexpr double longest_good_sample_ns = 5e6;
constexpr double least_ratio = 0.9;
constexpr double most_ratio = 1.1;

constexpr std::size_t pairs_a_submission = 64;
constexpr int idle_submissions = 20;
constexpr int empty_submissions = 4;
constexpr std::uint32_t ladder_steps = 64;
constexpr std::uint32_t short_share = 8;  // a long run divided by this is a short one
constexpr int checks_a_series = 5;
constexpr int most_series = 3;

/// The readings converted to times.
class Times {
 public:
  explicit Times(const TimerReadings& readings) : readings_(readings) {
    add(readings.empty);
    add(readings.ladder);
    for (const CrossCheck& check : readings.checks) {
      add(check.long_run);
      add(check.short_run);
    }
  }

  double ns(std::uint64_t begin, std::uint64_t end) const {
    return ticks_to_ns(begin, end, readings_.valid_bits, readings_.period_ns);
  }
  double ns(const StampedRun& run) const {
    return run.ticks.empty() ? 0 : ns(run.ticks.front(), run.ticks.back());
  }

  std::size_t steps() const { return steps_; }
  /// The smallest step above 0; 0: the counter stood still.
  double smallest_step() const { return smallest_; }
  /// The sizes of the steps that went backwards.
  const std::vector<double>& backwards() const { return backwards_; }

 private:
  void add(const std::vector<StampedRun>& runs) {
    for (const StampedRun& run : runs) {
      add(run);
    }
  }
  /// Adds the steps within one submission; between submissions a sleeping device may reset its counter.
  void add(const StampedRun& run) {
    for (std::size_t i = 0; i + 1 < run.ticks.size(); ++i) {
      ++steps_;
      const double forwards = ns(run.ticks[i], run.ticks[i + 1]);
      const double back = ns(run.ticks[i + 1], run.ticks[i]);
      if (back > 0 && back < forwards) {
        backwards_.push_back(back);
      } else if (forwards > 0 && (smallest_ == 0 || forwards < smallest_)) {
        smallest_ = forwards;
      }
    }
  }

  const TimerReadings& readings_;
  std::size_t steps_ = 0;
  double smallest_ = 0;
  std::vector<double> backwards_;
};

/// The nearest-rank percentile: the smallest value that at least this share of the values does not exceed.
/// `sorted` is ascending.
double nearest_rank(const std::vector<double>& sorted, std::size_t percent) {
  return sorted.empty() ? 0 : sorted[std::max<std::size_t>((sorted.size() * percent + 99) / 100, 1) - 1];
}

void measure_unit(TimerCalibration& timer, const TimerReadings& readings, const Times& times) {
  std::vector<double> pairs;
  for (const StampedRun& run : readings.empty) {
    for (std::size_t i = 0; i + 1 < run.ticks.size(); ++i) {
      pairs.push_back(times.ns(run.ticks[i], run.ticks[i + 1]));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  timer.pair_ns_p50 = nearest_rank(pairs, 50);
  timer.pair_ns_p95 = nearest_rank(pairs, 95);
  timer.step_ns = times.smallest_step();
  timer.unit_ns = std::max(timer.step_ns, timer.pair_ns_p95);
}

/// The time between the GPU's timestamps over the CPU's time from submission to fence. Subtracting the short
/// run removes the overhead that both submissions have.
double by_submission(const CrossCheck& check, const Times& times) {
  const double cpu_ns = check.long_run.wall_ns - check.short_run.wall_ns;
  return cpu_ns > 0 ? (times.ns(check.long_run) - times.ns(check.short_run)) / cpu_ns : 0;
}

double by_clocks(const CrossCheck& check, const Times& times) {
  const double cpu_ns = check.after->cpu_ns - check.before->cpu_ns;
  return cpu_ns > 0 ? times.ns(check.before->ticks, check.after->ticks) / cpu_ns : 0;
}

template <class F>
double median_over(const TimerReadings& readings, const F& ratio) {
  std::vector<double> ratios;
  for (const CrossCheck& check : readings.checks) {
    ratios.push_back(ratio(check));
  }
  return median(std::move(ratios));
}

bool agrees(double ratio, double tolerance = 0) {
  return ratio >= least_ratio - tolerance && ratio <= most_ratio + tolerance;
}

/// The effect that the unit of a coarse counter can have on the ratio of two runs. It is 0 for a counter that
/// hardly moves during the check, which cannot be distinguished from a wrong one.
double coarseness(const TimerReadings& readings, const Times& times) {
  const CrossCheck& check = readings.checks.front();
  const double share = times.smallest_step() / (check.long_run.wall_ns - check.short_run.wall_ns);
  return share > 0 && share < 0.2 ? 2 * share : 0;
}

/// Cross-checks the clocks. Returns what is wrong; empty: nothing.
std::string cross_check(TimerCalibration& timer, const TimerReadings& readings, const Times& times) {
  if (readings.checks.empty()) {
    return {};
  }
  const auto submission = [&](const CrossCheck& check) { return by_submission(check, times); };
  const double stamps = median_over(readings, submission);
  const bool both = std::all_of(readings.checks.begin(), readings.checks.end(),
                                [](const CrossCheck& check) { return check.before && check.after; });
  timer.cross_check = both ? "calibrated timestamps" : "submission";
  timer.gpu_over_cpu =
      both ? median_over(readings, [&](const CrossCheck& c) { return by_clocks(c, times); }) : stamps;
  const double tolerance = coarseness(readings, times);
  if (!agrees(timer.gpu_over_cpu, tolerance)) {
    return fmt::format(
        "the GPU's clock says {:.3g} times what the CPU's clock says ({}, median of {}); {:g} to {:g} would "
        "be right",
        timer.gpu_over_cpu, timer.cross_check, readings.checks.size(), least_ratio, most_ratio);
  }
  // The clocks may agree although the timestamps are not written at the start and end of the work.
  if (!agrees(stamps, tolerance)) {
    return fmt::format(
        "timestamps around a kernel show {:.3g} times the time that the CPU sees (submission to fence, "
        "median of {}), though the clocks agree ({:.3g}); {:g} to {:g} would be right",
        stamps, readings.checks.size(), timer.gpu_over_cpu, least_ratio, most_ratio);
  }
  return {};
}

std::string what_is_broken(TimerCalibration& timer, const TimerReadings& readings, const Times& times) {
  if (times.smallest_step() == 0 && times.backwards().empty()) {
    return fmt::format("the counter stood still over {} stamps, some of them {:.3g} ms of work apart",
                       times.steps() + 1,
                       readings.checks.empty() ? 0 : readings.checks.front().long_run.wall_ns / ns_per_ms);
  }
  if (const std::vector<double>& back = times.backwards(); !back.empty()) {
    return fmt::format("the counter went backwards in {} of {} steps, by up to {:.4g} us", back.size(),
                       times.steps(), *std::max_element(back.begin(), back.end()) / 1e3);
  }
  return cross_check(timer, readings, times);
}

TimerCalibration broken(const TimerReadings& readings, TimerCalibration timer, std::string_view what) {
  std::vector<double> walls;
  for (const StampedRun& run : readings.idle) {
    walls.push_back(run.wall_ns);
  }
  std::sort(walls.begin(), walls.end());
  timer.quality = TimerQuality::Broken;
  timer.unit_ns = nearest_rank(walls, 95);
  timer.note = fmt::format(
      "{}: batches are timed by the CPU's clock, by which an empty submission takes {:.3g} us (p95)", what,
      timer.unit_ns / 1e3);
  return timer;
}

TimerCalibration facts_of(const TimerReadings& readings) {
  TimerCalibration timer;
  timer.valid_bits = readings.valid_bits;
  timer.period_ns = readings.period_ns;
  timer.wrap_s =
      readings.valid_bits == 0 ? 0 : std::exp2(readings.valid_bits) * readings.period_ns / ns_per_s;
  return timer;
}

/// What is wrong with the device's own statements about its timer; empty: nothing.
std::string wrong_facts(const TimerReadings& readings) {
  if (readings.valid_bits == 0) {
    return "the queue has no timestamps";
  }
  if (!(readings.period_ns > 0) || !std::isfinite(readings.period_ns)) {
    return fmt::format("the device says that a tick lasts {:g} ns", readings.period_ns);
  }
  return {};
}

CrossCheck check_once(TimerProbe& probe, std::uint32_t rounds) {
  CrossCheck check;
  check.before = probe.clocks();
  check.long_run = probe.run(std::vector{rounds});
  check.after = probe.clocks();
  check.short_run = probe.run(std::vector{std::max(rounds / short_share, 1U)});
  return check;
}

}  // namespace

TimerCalibration judge(const TimerReadings& readings) {
  TimerCalibration timer = facts_of(readings);
  if (const std::string wrong = wrong_facts(readings); !wrong.empty()) {
    return broken(readings, timer, wrong);
  }
  const Times times(readings);
  measure_unit(timer, readings, times);
  if (const std::string wrong = what_is_broken(timer, readings, times); !wrong.empty()) {
    return broken(readings, timer, wrong);
  }
  if (units_per_sample * timer.unit_ns > longest_good_sample_ns) {
    timer.quality = TimerQuality::Coarse;
    timer.note = fmt::format(
        "it cannot distinguish times that differ by less than {:.4g} us (its smallest step is {:.4g} us, and "
        "95 % of empty intervals take at most {:.4g} us), so a sample must last {:g} times as long: {:.3g} "
        "ms",
        timer.unit_ns / 1e3, timer.step_ns / 1e3, timer.pair_ns_p95 / 1e3, units_per_sample,
        units_per_sample * timer.unit_ns / ns_per_ms);
  }
  return timer;
}

TimerCalibration calibrate(TimerProbe& probe) {
  TimerReadings readings{.valid_bits = probe.valid_bits(), .period_ns = probe.period_ns()};
  for (int i = 0; i < idle_submissions; ++i) {
    readings.idle.push_back(probe.run({}));
  }
  if (!wrong_facts(readings).empty()) {
    return judge(readings);
  }
  const std::uint32_t rounds = probe.long_rounds();
  for (int i = 0; i < empty_submissions; ++i) {
    readings.empty.push_back(probe.run(std::vector<std::uint32_t>(pairs_a_submission, 0)));
  }
  readings.ladder.push_back(
      probe.run(std::vector<std::uint32_t>(ladder_steps, std::max(rounds / ladder_steps, 1U))));
  TimerCalibration timer;
  for (int series = 0; series < most_series; ++series) {
    readings.checks.clear();
    for (int i = 0; i < checks_a_series; ++i) {
      readings.checks.push_back(check_once(probe, rounds));
    }
    timer = judge(readings);
    if (timer.quality != TimerQuality::Broken) {
      break;
    }
  }
  return timer;
}

}  // namespace assay::gpu
