#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// How far the device's clock can be trusted.
enum class TimerQuality : std::uint8_t {
  Good,
  Coarse,  ///< right, but its unit is large: samples are long, or marked
  Broken,  ///< absent, standing still or wrong against the CPU's clock: batches are timed by the CPU
};
std::string_view name_of(TimerQuality quality);  ///< "good", "coarse", "broken"

/// What is known of a queue's timestamps, measured at the start of a run.
struct TimerCalibration {
  TimerQuality quality = TimerQuality::Good;
  std::string note;  ///< why it is not good, with numbers
  double period_ns = 0;
  std::uint32_t valid_bits = 0;
  double wrap_s = 0;       ///< after so long the counter begins again
  double step_ns = 0;      ///< smallest difference that was seen
  double pair_ns_p50 = 0;  ///< an empty pair of stamps
  double pair_ns_p95 = 0;
  /// What it tells apart: max(step, p95 of an empty pair), or the p95 of an empty submission by the CPU's
  /// clock when it is broken; 0: not measured in this run.
  double unit_ns = 0;
  double gpu_over_cpu = 0;  ///< a long dispatch by the GPU's clock over the CPU's: 1 is right; 0: not checked
  std::string cross_check;  ///< how: "calibrated timestamps" or "submission"; empty: not checked
};

/// One line for people: "good: 1 ns a tick of 64 bits, unit 1.3 us (step 40 ns, empty pair 60 ns, p95 130
/// ns), 1.0000 of the CPU's clock (calibrated timestamps)"; what is wrong behind it.
std::string to_string(const TimerCalibration& timer);

}  // namespace assay
