#include "harness/device/timer_calibration.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TimerCalibration good() {
  return {.quality = TimerQuality::Good,
          .note = {},
          .period_ns = 52.083332,
          .valid_bits = 36,
          .wrap_s = 3579,
          .step_ns = 52.083332,
          .pair_ns_p50 = 104.166664,
          .pair_ns_p95 = 1250,
          .unit_ns = 1250,
          .gpu_over_cpu = 1.00004,
          .cross_check = "calibrated timestamps"};
}

TEST(TimerCalibrationText, SaysWhatWasMeasured) {
  EXPECT_EQ(
      to_string(good()),
      "good: 52.0833 ns per tick, 36 bits, unit 1.25 us (step 52.08 ns, empty pair 104.2 ns, p95 1.25 us), "
      "1.0000 of the CPU's clock (calibrated timestamps)");
}

TEST(TimerCalibrationText, OfACoarseTimerIsInMilliseconds) {
  TimerCalibration timer = good();
  timer.step_ns = timer.unit_ns = 10e6;
  EXPECT_NE(to_string(timer).find("unit 10 ms (step 10 ms"), std::string::npos) << to_string(timer);
}

TEST(TimerCalibrationText, EndsWithWhatIsWrong) {
  TimerCalibration timer = good();
  timer.quality = TimerQuality::Broken;
  timer.note = "the counter went backwards";
  timer.cross_check.clear();
  EXPECT_EQ(
      to_string(timer),
      "broken: 52.0833 ns per tick, 36 bits, unit 1.25 us (step 52.08 ns, empty pair 104.2 ns, p95 1.25 "
      "us); the counter went backwards");
}

TEST(TimerCalibrationText, OfNoTimestampsIsTheNoteAlone) {
  EXPECT_EQ(
      to_string(TimerCalibration{.quality = TimerQuality::Broken, .note = "the queue has no timestamps"}),
      "broken: the queue has no timestamps");
}

}  // namespace
}  // namespace assay
