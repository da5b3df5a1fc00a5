#pragma once

#include "harness/base/system_state.h"
#include "harness/device/device_info.h"
#include "harness/engine/energy/energy_meter.h"
#include "harness/engine/energy/energy_window.h"
#include "harness/gpu/gpu.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace assay {

/// Tracks a device's clock by the times of clock probes: fixed pieces of work that run after each sample,
/// whose time changes only with the clock. There is one per device, shared by everything that samples on it.
class ClockWatch {
 public:
  /// Clock probes that differ by less than `least_tolerance` always count as at one clock. A CPU that also
  /// does other work needs more than a GPU's 3 %.
  explicit ClockWatch(double least_tolerance = 0.03) : least_tolerance_(least_tolerance) {}

  /// Takes a clock probe's time in ns; ignores times that are not positive.
  void hear(double probe_ns);

  /// The clock probe's time at the best sustained clock so far (the smallest median of a few in a row); 0:
  /// not known yet.
  double full_clock_ns() const { return full_clock_ns_; }

  /// Whether a clock probe of this length shows a clock below full: it is longer than full_clock_ns(), or
  /// `accepted_ns` if that is longer, by more than probes differ at one clock. False while nothing is known.
  bool is_down(double probe_ns, double accepted_ns = 0) const;

  /// Neither work nor rest has raised the clock above the one of a clock probe of this length, in ns, as of
  /// `now_s`: it counts as the device's for 10 s, unless a higher clock is heard.
  void accept(double probe_ns, double now_s);
  /// Whether a clock probe shows a clock that was accepted lately, or a higher one.
  bool is_accepted(double probe_ns, double now_s) const;

 private:
  double least_tolerance_;
  std::vector<double> newest_;  ///< the last few, oldest first
  double full_clock_ns_ = 0;
  double tolerance_ = 0;
  double accepted_ns_ = 0;
  double accepted_at_s_ = 0;
};

/// Everything besides the programs that timing needs on a device; made once per device and kept between runs.
struct TimingTools {
  /// Calibrates the timer unless it is `known` (a broken timer is no longer used), and heats the device to
  /// choose its clock probe's length: takes two or three seconds on a device that was idle.
  TimingTools(gpu::Device& owner, gpu::ShaderLibrary& shaders,
              const std::optional<TimerCalibration>& known = std::nullopt);

  gpu::Device& device;
  TimerCalibration timer;
  gpu::ClockProbe probe;
  gpu::DeviceMemory memory;
  ClockWatch clock;
  SystemSensors sensors;
  std::shared_ptr<EnergyMeter> energy;  ///< of rows whose energy is measured; null: it is not
  WindowLimits energy_window;
  Ceilings ceilings;  ///< empty until measured: rows then have no percentages
  /// Measures the ceilings again and keeps the larger of both in `ceilings`. Called when a row is above them,
  /// because the device may have been disturbed when they were measured. May be empty.
  std::function<void()> measure_again;
  int measured_again = 0;
};

}  // namespace assay
