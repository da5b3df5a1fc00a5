#include "harness/gpu/kernels/calibration.h"

#include "tests/support/gpu.h"

#include <cmath>
#include <functional>

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::HasSubstr;

constexpr double us = 1e3;
constexpr double ms = 1e6;

/// A timer with its own true time, which `counter` shows as ticks.
class FakeTimer final : public TimerProbe {
 public:
  std::uint32_t bits = 64;
  double period = 1;
  double stamp_ns = 500;    ///< time of a timestamp
  double round_ns = 1000;   ///< time of a round of work
  double submit_ns = 60e3;  ///< overhead of a submission, which only the CPU sees
  bool has_clocks = false;
  /// Ticks at a true time in ns; the caller cuts off invalid bits.
  std::function<std::uint64_t(double)> counter = [this](double ns) {
    return static_cast<std::uint64_t>(ns / period);
  };
  /// The CPU's time for a submission of that length in ns, and its number.
  std::function<double(double, int)> cpu = [](double ns, int) { return ns; };

  int submissions = 0;
  double now_ns = 1e9;

  std::uint32_t valid_bits() const override { return bits; }
  double period_ns() const override { return period; }
  std::uint32_t long_rounds() override { return static_cast<std::uint32_t>(30 * ms / round_ns); }
  StampedRun run(std::span<const std::uint32_t> rounds) override {
    const double begin = now_ns;
    StampedRun result;
    now_ns += submit_ns / 2;
    stamp(result);
    for (const std::uint32_t count : rounds) {
      now_ns += count * round_ns + stamp_ns;
      stamp(result);
    }
    now_ns += submit_ns / 2;
    result.wall_ns = cpu(now_ns - begin, submissions++);
    return result;
  }
  std::optional<ClockReading> clocks() override {
    return has_clocks ? std::optional(ClockReading{.ticks = read(), .cpu_ns = now_ns}) : std::nullopt;
  }

 private:
  void stamp(StampedRun& result) const {
    if (bits > 0) {
      result.ticks.push_back(read());
    }
  }
  std::uint64_t read() const {
    const std::uint64_t ticks = counter(now_ns);
    return bits >= 64 ? ticks : ticks & ((1ULL << bits) - 1);
  }
};

TEST(Calibration, OfATimerThatIsRightSaysSo) {
  FakeTimer timer;
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Good);
  EXPECT_EQ(found.note, "");
  EXPECT_EQ(found.valid_bits, 64u);
  EXPECT_EQ(found.period_ns, 1);
  EXPECT_NEAR(found.wrap_s, 1.8447e10, 1e7);
  EXPECT_EQ(found.step_ns, 500);
  EXPECT_EQ(found.pair_ns_p50, 500);
  EXPECT_EQ(found.pair_ns_p95, 500);
  EXPECT_EQ(found.unit_ns, 500);
  EXPECT_NEAR(found.gpu_over_cpu, 1, 1e-9);
  EXPECT_EQ(found.cross_check, "submission");
}

TEST(Calibration, UsesTheClocksThatTheDeviceReadsTogether) {
  FakeTimer timer;
  timer.has_clocks = true;
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_EQ(found.cross_check, "calibrated timestamps");
  EXPECT_NEAR(found.gpu_over_cpu, 1, 1e-9);
}

TEST(Calibration, UnitIsTheP95OfEmptyPairs) {
  FakeTimer timer;
  std::uint64_t stamps = 0;
  // Every tenth pair takes 8 us longer.
  timer.counter = [&](double ns) { return static_cast<std::uint64_t>(ns) + stamps++ / 10 * 8000; };
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.pair_ns_p50, 500);
  EXPECT_EQ(found.pair_ns_p95, 8500);
  EXPECT_EQ(found.unit_ns, 8500);
  EXPECT_EQ(found.step_ns, 500);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
}

TEST(Calibration, SurvivesAWrapAt36BitsInsideOfEverySubmission) {
  FakeTimer timer;
  timer.bits = 36;
  // The counter wraps again and again.
  const std::uint64_t end = 1ULL << 36;
  int wraps = 0;
  std::uint64_t last = 0;
  timer.counter = [&](double ns) {
    const std::uint64_t ticks = end - 1'000'000 + static_cast<std::uint64_t>(ns - 1e9);
    wraps += ticks / end != last / end ? 1 : 0;
    last = ticks;
    return ticks;
  };
  const TimerCalibration found = calibrate(timer);
  EXPECT_GE(wraps, 1);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_NEAR(found.wrap_s, 68.72, 0.01);
  EXPECT_NEAR(found.gpu_over_cpu, 1, 1e-6);
}

TEST(Calibration, OfTicksOf52NsAt36BitsIsGoodWithAUnitOfWholeTicks) {
  FakeTimer timer;
  timer.bits = 36;
  timer.period = 52.083;                                 // 19.2 MHz, as on many phones
  timer.stamp_ns = 30;                                   // less than a tick
  timer.now_ns = (std::exp2(36) - 1000) * timer.period;  // it wraps within the first submissions
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_NEAR(found.wrap_s, 3579, 1);
  EXPECT_NEAR(found.unit_ns, 52.083, 1e-9);
  EXPECT_NEAR(found.gpu_over_cpu, 1, 1e-3);
}

TEST(Calibration, SurvivesAWrapInsideOfALongDispatch) {
  FakeTimer timer;
  timer.bits = 36;
  timer.has_clocks = true;
  timer.counter = [](double ns) {
    return (1ULL << 36) - static_cast<std::uint64_t>(40 * ms) + static_cast<std::uint64_t>(ns - 1e9);
  };
  const TimerCalibration found = calibrate(timer);
  EXPECT_GT(timer.now_ns - 1e9, 80 * ms) << "it wrapped within the first check";
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_NEAR(found.gpu_over_cpu, 1, 1e-6);
}

TEST(Calibration, IgnoresBitsThatAreNotValid) {
  FakeTimer timer;
  timer.bits = 36;
  FakeTimer clean = {};
  clean.bits = 36;
  std::uint64_t noise = 0x5DEECE66DULL;
  TimerReadings readings{.valid_bits = 36, .period_ns = 1};
  for (const int rounds : {0, 1, 2}) {
    StampedRun run = clean.run(std::vector<std::uint32_t>(8, static_cast<std::uint32_t>(rounds)));
    for (std::uint64_t& ticks : run.ticks) {
      noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;
      ticks |= noise & ~((1ULL << 36) - 1);
    }
    readings.empty.push_back(run);
  }
  const TimerCalibration found = judge(readings);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_EQ(found.step_ns, 500);
}

TEST(Calibration, FindsACounterThatGoesBackwards) {
  FakeTimer timer;
  int stamps = 0;
  timer.counter = [&](double ns) {
    return static_cast<std::uint64_t>(ns) - (++stamps % 100 == 0 ? 700'000ULL : 0);
  };
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Broken);
  EXPECT_THAT(found.note, HasSubstr("went backwards in "));
  EXPECT_THAT(found.note, HasSubstr("by up to 699.5 us"));
}

TEST(Calibration, FindsACounterOf36BitsThatGoesBackwards) {
  FakeTimer timer;
  timer.bits = 36;
  int stamps = 0;
  timer.counter = [&](double ns) {
    return static_cast<std::uint64_t>(ns) - (++stamps % 100 == 0 ? 700'000ULL : 0);
  };
  EXPECT_THAT(calibrate(timer).note, HasSubstr("went backwards in "));
}

TEST(Calibration, ACounterThatBeginsAgainBetweenSubmissionsIsNotWrong) {
  FakeTimer timer;
  double offset = 0;
  int submission = 0;
  timer.counter = [&](double ns) {
    if (timer.submissions != submission) {
      submission = timer.submissions;
      offset = ns;
    }
    return static_cast<std::uint64_t>(ns - offset);
  };
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Good);
}

TEST(Calibration, OfMillisecondStepsIsCoarse) {
  FakeTimer timer;
  timer.counter = [](double ns) { return static_cast<std::uint64_t>(std::floor(ns / ms) * ms); };
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Coarse) << found.note;
  EXPECT_EQ(found.step_ns, ms);
  EXPECT_EQ(found.pair_ns_p50, 0);
  EXPECT_EQ(found.unit_ns, ms);
  EXPECT_EQ(
      found.note,
      "it cannot distinguish times that differ by less than 1000 us (its smallest step is 1000 us, and 95 % "
      "of empty intervals take at most 0 us), so a sample must last 50 times as long: 50 ms");
}

TEST(Calibration, AHundredMicrosecondsAreTheLimitOfGood) {
  FakeTimer timer;
  timer.stamp_ns = 100 * us;
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Good);
  timer.stamp_ns = 101 * us;
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Coarse);
}

TEST(Calibration, ACounterThatHardlyMovesIsBroken) {
  FakeTimer timer;
  timer.counter = [](double ns) {
    return static_cast<std::uint64_t>(std::floor(ns / (500 * ms)) * 500 * ms);
  };
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Broken);
}

TEST(Calibration, FindsACounterThatStandsStill) {
  for (const std::uint64_t stuck : {0ULL, 123456789ULL}) {
    FakeTimer timer;
    timer.counter = [stuck](double) { return stuck; };
    const TimerCalibration found = calibrate(timer);
    EXPECT_EQ(found.quality, TimerQuality::Broken);
    EXPECT_THAT(found.note, HasSubstr("the counter stood still over "));
    EXPECT_THAT(found.note, HasSubstr("some of them 30.1 ms of work apart"));
  }
}

TEST(Calibration, OfAClockThatRunsAFifthFastIsBroken) {
  for (const bool has_clocks : {false, true}) {
    FakeTimer timer;
    timer.has_clocks = has_clocks;
    timer.counter = [](double ns) { return static_cast<std::uint64_t>(1.2 * ns); };
    const TimerCalibration found = calibrate(timer);
    EXPECT_EQ(found.quality, TimerQuality::Broken);
    EXPECT_NEAR(found.gpu_over_cpu, 1.2, 1e-3);
    EXPECT_THAT(found.note, HasSubstr("says 1.2 times what the CPU's clock says"));
  }
}

TEST(Calibration, OfAClockThatRunsAnEighthSlowIsBrokenAndATwentiethIsNot) {
  FakeTimer timer;
  timer.counter = [](double ns) { return static_cast<std::uint64_t>(0.875 * ns); };
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Broken);
  timer.counter = [](double ns) { return static_cast<std::uint64_t>(0.95 * ns); };
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Good);
}

TEST(Calibration, FindsStampsThatAreNotWrittenWhereTheWorkEnds) {
  FakeTimer timer;
  timer.has_clocks = true;
  double first = 0;
  int submission = -1;
  // As if all timestamps of a submission were written at its beginning.
  timer.counter = [&](double ns) {
    if (timer.submissions != submission) {
      submission = timer.submissions;
      first = ns;
    }
    const double shown = ns - first < 40 * ms && ns > first ? first + 1e-6 * (ns - first) : ns;
    return static_cast<std::uint64_t>(shown);
  };
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Broken);
}

TEST(Calibration, ABusyMachineIsAskedAgain) {
  FakeTimer timer;
  // The CPU sees the end of submissions late, except in the last series.
  timer.cpu = [](double ns, int submission) { return submission < 40 ? 2 * ns : ns; };
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Good) << found.note;
  EXPECT_GT(timer.submissions, 40);
}

TEST(Calibration, OneDelayOfTheCpuDoesNotCount) {
  FakeTimer timer;
  timer.cpu = [](double ns, int submission) { return submission % 5 == 0 ? ns + 50 * ms : ns; };
  EXPECT_EQ(calibrate(timer).quality, TimerQuality::Good);
}

TEST(Calibration, WithoutTimestampsTheUnitIsAnEmptySubmission) {
  FakeTimer timer;
  timer.bits = 0;
  const TimerCalibration found = calibrate(timer);
  EXPECT_EQ(found.quality, TimerQuality::Broken);
  EXPECT_EQ(found.unit_ns, timer.submit_ns);
  EXPECT_EQ(found.note,
            "the queue has no timestamps: batches are timed by the CPU's clock, by which an empty submission "
            "takes 60 us (p95)");
}

TEST(Calibration, RefusesAPeriodThatIsNone) {
  for (const double period : {0.0, -1.0, std::nan("")}) {
    TimerReadings readings{.valid_bits = 64, .period_ns = period};
    EXPECT_EQ(judge(readings).quality, TimerQuality::Broken);
    EXPECT_THAT(judge(readings).note, HasSubstr("a tick lasts"));
  }
}

using CalibrationTest = GpuTest;

TEST_F(CalibrationTest, TrustsTheTimerOfTheDeviceAtHand) {
  ShaderLibrary library;
  const auto is_trusted = [](const TimerCalibration& timer) {
    return timer.quality != TimerQuality::Broken && std::abs(timer.gpu_over_cpu - 1) < 0.1;
  };
  // Two clocks are compared, and other work on the machine may come between their readings: a good timer is
  // trusted in one of several attempts, a broken one in none.
  TimerCalibration found = calibrate_timer(device(), library);
  for (int i = 0; i < 20 && !is_trusted(found); ++i) found = calibrate_timer(device(), library);
  RecordProperty("timer", to_string(found));
  if (device().info().timestamp_valid_bits == 0) {
    EXPECT_EQ(found.quality, TimerQuality::Broken);
    return;
  }
  // A busy CPU device may be coarse: a barrier waits there for system threads.
  EXPECT_NE(found.quality, TimerQuality::Broken) << to_string(found);
  EXPECT_GT(found.unit_ns, 0);
  EXPECT_GE(found.unit_ns, found.step_ns);
  EXPECT_GE(found.pair_ns_p95, found.pair_ns_p50);
  EXPECT_NEAR(found.gpu_over_cpu, 1, 0.1);
}

TEST_F(CalibrationTest, OfADeviceWhoseStampsAreDistrustedIsByTheCpu) {
  Device own(instance(), select_devices(instance().devices(), {}).front());
  own.distrust_timestamps();
  ShaderLibrary library;
  const TimerCalibration found = calibrate_timer(own, library);
  EXPECT_EQ(found.quality, TimerQuality::Broken);
  EXPECT_GT(found.unit_ns, 0);
}

}  // namespace
}  // namespace assay::gpu
