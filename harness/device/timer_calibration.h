#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Says how far the device's clock can be trusted.
enum class TimerQuality : std::uint8_t {
  Good,
  Coarse,  ///< right but with a large unit: samples are long, or marked
  Broken,  ///< absent, stopped or wrong compared with the CPU's clock: the CPU times batches instead
};
std::string_view name_of(TimerQuality quality);  ///< "good", "coarse", "broken"

/// What is known about a queue's timestamps, measured at the start of a run.
struct TimerCalibration {
  TimerQuality quality = TimerQuality::Good;
  std::string note;  ///< why the timer is not good, with numbers
  double period_ns = 0;
  std::uint32_t valid_bits = 0;
  double wrap_s = 0;       ///< the counter wraps around after this time
  double step_ns = 0;      ///< smallest difference observed
  double pair_ns_p50 = 0;  ///< time between an empty pair of timestamps
  double pair_ns_p95 = 0;
  /// The resolution: max(step, p95 of an empty pair), or the p95 of an empty submission by the CPU's clock if
  /// the timer is broken; 0: not measured in this run.
  double unit_ns = 0;
  double gpu_over_cpu = 0;  ///< a long dispatch by the GPU's clock over the CPU's: 1 is right; 0: not checked
  std::string cross_check;  ///< the method: "calibrated timestamps" or "submission"; empty: not checked
};

/// Returns one line for people: "good: 1 ns per tick, 64 bits, unit 1.3 us (step 40 ns, empty pair 60 ns,
/// p95 130 ns), 1.0000 of the CPU's clock (calibrated timestamps)", followed by what is wrong.
std::string to_string(const TimerCalibration& timer);

}  // namespace assay
