#include "harness/device/timer_calibration.h"

#include "harness/base/names.h"

#include <fmt/format.h>

namespace assay {
namespace {

std::string duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.4g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  return fmt::format("{:.4g} ms", ns / 1e6);
}

}  // namespace

std::string_view name_of(TimerQuality quality) {
  static constexpr Names<3> names{"good", "coarse", "broken"};
  return name_in(names, quality);
}

std::string to_string(const TimerCalibration& timer) {
  std::string text(name_of(timer.quality));
  if (timer.valid_bits == 0) {
    return text + ": " + timer.note;
  }
  text += fmt::format(": {:.6g} ns per tick, {} bits, unit {} (step {}, empty pair {}, p95 {})",
                      timer.period_ns, timer.valid_bits, duration(timer.unit_ns), duration(timer.step_ns),
                      duration(timer.pair_ns_p50), duration(timer.pair_ns_p95));
  if (!timer.cross_check.empty()) {
    text += fmt::format(", {:.4f} of the CPU's clock ({})", timer.gpu_over_cpu, timer.cross_check);
  }
  return timer.note.empty() ? text : text + "; " + timer.note;
}

}  // namespace assay
