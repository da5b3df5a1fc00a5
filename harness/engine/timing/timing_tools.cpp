#include "harness/engine/timing/timing_tools.h"

#include "harness/base/statistics.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

constexpr std::size_t window = 5;
constexpr double most_tolerance = 0.15;
constexpr double accepted_for_s = 10;
constexpr double accepted_tolerance = 0.01;  // probes at one clock of a GPU differ by less
constexpr double deviations = 5;             // median absolute deviations: about 3.4 standard deviations

double median_deviation(const std::vector<double>& values, double middle) {
  std::vector<double> deviations_of;
  for (const double value : values) deviations_of.push_back(std::fabs(value - middle));
  return median(deviations_of);
}

}  // namespace

void ClockWatch::hear(double probe_ns) {
  if (!(probe_ns > 0) || !std::isfinite(probe_ns)) return;
  if (probe_ns < accepted_ns_ * (1 - accepted_tolerance)) accepted_ns_ = 0;
  if (newest_.size() == window) newest_.erase(newest_.begin());
  newest_.push_back(probe_ns);
  if (newest_.size() < window) return;
  const double middle = median(newest_);
  if (full_clock_ns_ > 0 && middle >= full_clock_ns_) return;
  full_clock_ns_ = middle;
  const double measured = std::min(deviations * median_deviation(newest_, middle) / middle, most_tolerance);
  tolerance_ = std::max(measured, least_tolerance_);
}

bool ClockWatch::is_down(double probe_ns, double accepted_ns) const {
  return full_clock_ns_ > 0 && probe_ns > std::max(full_clock_ns_, accepted_ns) * (1 + tolerance_);
}

void ClockWatch::accept(double probe_ns, double now_s) {
  accepted_ns_ = probe_ns;
  accepted_at_s_ = now_s;
}

bool ClockWatch::is_accepted(double probe_ns, double now_s) const {
  return now_s - accepted_at_s_ < accepted_for_s && probe_ns <= accepted_ns_ * (1 + accepted_tolerance);
}

namespace {

constexpr double gpu_tolerance = 0.03;
constexpr double cpu_tolerance = 0.25;

TimerCalibration calibrated(gpu::Device& device, gpu::ShaderLibrary& shaders,
                            const std::optional<TimerCalibration>& known) {
  TimerCalibration timer = known ? *known : gpu::calibrate_timer(device, shaders);
  if (timer.quality == TimerQuality::Broken) device.distrust_timestamps();
  return timer;
}

}  // namespace

TimingTools::TimingTools(gpu::Device& owner, gpu::ShaderLibrary& shaders,
                         const std::optional<TimerCalibration>& known)
    : device(owner),
      timer(calibrated(owner, shaders, known)),
      probe(owner, shaders),
      memory(owner, shaders),
      clock(owner.info().type == "cpu" ? cpu_tolerance : gpu_tolerance) {}

}  // namespace assay
