#include "harness/engine/energy/energy_window.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "tests/support/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;
using Kind = EnergyMeter::Kind;

/// A meter whose readings are a function of the time since it was made.
class FakeMeter : public EnergyMeter {
 public:
  FakeMeter(Kind kind, std::function<double(double at_s)> reading)
      : kind_(kind), reading_(std::move(reading)) {}

  double read() override {
    ++reads;
    return reading_(watch_.s());
  }
  Kind kind() const override { return kind_; }
  std::string source() const override { return "fake"; }
  double averaged_s() const override { return averaged; }

  std::atomic<int> reads = 0;
  double averaged = 0;

 private:
  Kind kind_;
  std::function<double(double)> reading_;
  Stopwatch watch_;
};

/// Short enough for a test. A window that needs more readings than that ends after a minute.
WindowLimits short_window() {
  return {.heating_s = 0,
          .least_s = 0.02,
          .most_s = 60,
          .least_readings = 5,
          .least_changes = 5,
          .interval_s = 0.001,
          .counter_interval_s = 0.001};
}

std::int64_t run_three() {
  sleep_for_seconds(0.002);
  return 3;
}

TEST(MeasureEnergy, GivesTheEnergyOfAProgramAtConstantPower) {
  FakeMeter meter(Kind::Power, [](double) { return 42.0; });
  const WindowResult result = measure_energy(meter, run_three, {}, short_window());
  ASSERT_TRUE(result.energy) << result.why_not;
  const Energy& energy = *result.energy;
  EXPECT_DOUBLE_EQ(energy.watts, 42);
  EXPECT_DOUBLE_EQ(energy.joules, 42 * energy.window_s / static_cast<double>(energy.programs));
  EXPECT_GE(energy.window_s, 0.02);
  EXPECT_EQ(energy.programs % 3, 0);
  EXPECT_GE(energy.readings, 5);
  EXPECT_EQ(energy.source, "fake");
}

TEST(MeasureEnergy, GoesOnUntilACounterHasChangedOftenEnough) {
  // It rises by 2 J in steps of 10 ms: 200 W.
  FakeMeter meter(Kind::Counter, [](double at_s) { return 2 * std::floor(at_s / 0.01); });
  const WindowResult result = measure_energy(meter, run_three, {}, short_window());
  ASSERT_TRUE(result.energy) << result.why_not;
  EXPECT_GE(result.energy->readings, 6);
  EXPECT_GT(result.energy->window_s, 0.035);
  EXPECT_GT(result.energy->watts, 0);
}

TEST(MeasureEnergy, DoesNotReadBeforeTheDeviceHasBeenBusyAsLongAsAReadingLooksBack) {
  FakeMeter meter(Kind::Power, [](double) { return 42.0; });
  meter.averaged = 0.03;
  int reads_while_heating = 0;
  const Stopwatch watch;
  const auto run = [&] {
    if (watch.s() < 0.03) reads_while_heating += meter.reads;
    return run_three();
  };
  ASSERT_TRUE(measure_energy(meter, run, {}, short_window()).energy);
  EXPECT_EQ(reads_while_heating, 0);
}

TEST(MeasureEnergy, SaysWhatIsWrongWithAMeterThatFails) {
  FakeMeter meter(Kind::Power, [reads = 0](double) mutable {
    if (++reads == 3) throw Error("the sensor is gone");
    return 1.0;
  });
  const WindowResult result = measure_energy(meter, run_three, {}, short_window());
  EXPECT_FALSE(result.energy);
  EXPECT_EQ(result.why_not, "the sensor is gone");
}

TEST(MeasureEnergy, HasNoResultOfACounterThatStandsStill) {
  FakeMeter meter(Kind::Counter, [](double) { return 5.0; });
  WindowLimits limits = short_window();
  limits.most_s = 0.04;
  const WindowResult result = measure_energy(meter, run_three, {}, limits);
  EXPECT_FALSE(result.energy);
  EXPECT_THAT(result.why_not, HasSubstr("rose fewer than two times"));
}

TEST(MeasureEnergy, HasNoResultOfAMeterThatReadsZero) {
  FakeMeter meter(Kind::Power, [](double) { return 0.0; });
  const WindowResult result = measure_energy(meter, run_three, {}, short_window());
  EXPECT_FALSE(result.energy);
  EXPECT_EQ(result.why_not, "the mean power in the window is 0 W");
}

TEST(MeasureEnergy, EndsAtOnceWhenTheRunIsStopped) {
  FakeMeter meter(Kind::Power, [](double) { return 42.0; });
  int runs = 0;
  const auto run = [&] {
    ++runs;
    return run_three();
  };
  WindowLimits limits = short_window();
  limits.least_s = 60;
  const WindowResult result = measure_energy(
      meter, run, [&] { return runs == 2; }, limits);
  EXPECT_FALSE(result.energy);
  EXPECT_TRUE(result.is_stopped);
  EXPECT_EQ(runs, 2);
}

TEST(MeasureEnergy, PassesOnThatTheDeviceIsLost) {
  FakeMeter meter(Kind::Power, [](double) { return 42.0; });
  EXPECT_THROW(measure_energy(
                   meter, []() -> std::int64_t { throw std::runtime_error("lost"); }, {}, short_window()),
               std::runtime_error);
}

TEST(MeanWatts, IsTheMeanOfReadingsOfPower) {
  const std::vector<MeterReading> readings{{0, 10}, {0.1, 20}, {0.2, 60}};
  EXPECT_DOUBLE_EQ(mean_watts(Kind::Power, readings, 3), 30);
  EXPECT_EQ(test::error_of([&] { mean_watts(Kind::Power, readings, 4); }),
            "the window had 3 readings of power, and a mean needs 4");
  EXPECT_NE(test::error_of([&] { mean_watts(Kind::Power, {}, 0); }), "");
}

TEST(MeanWatts, OfACounterDoesNotDependOnWhenTheWindowCutsItsSteps) {
  // 30 J a step, a step each 0.1 s: 300 W. The window begins just before a step and ends just after one.
  const std::vector<MeterReading> readings{{0.00, 7},  {0.01, 37}, {0.06, 37}, {0.11, 67},
                                           {0.16, 67}, {0.21, 97}, {0.22, 97}};
  EXPECT_NEAR(mean_watts(Kind::Counter, readings, 50), 300, 1e-9);
  EXPECT_EQ(changes_in(readings), 3);
}

TEST(MeanWatts, OfACounterNeedsTwoSteps) {
  const std::vector<MeterReading> one_step{{0, 7}, {0.1, 37}, {0.2, 37}};
  EXPECT_THAT(test::error_of([&] { mean_watts(Kind::Counter, one_step, 1); }), HasSubstr("fewer than two"));
  EXPECT_THAT(test::error_of([&] { mean_watts(Kind::Counter, {}, 1); }), HasSubstr("fewer than two"));
  const std::vector<MeterReading> reset{{0, 7}, {0.1, 37}, {0.2, 2}};
  EXPECT_EQ(test::error_of([&] { mean_watts(Kind::Counter, reset, 1); }),
            "the counter of energy fell from 37 to 2 J");
}

TEST(ProgramsInSubmission, AreSoManyThatTheGapsDoNotCount) {
  EXPECT_EQ(programs_in_submission(10, 1), 2000);
  EXPECT_EQ(programs_in_submission(0.5, 1), 8192);
  EXPECT_EQ(programs_in_submission(5e6, 1), 1);
}

TEST(ProgramsInSubmission, AreWholeRoundsUnlessThoseAreTooLong) {
  EXPECT_EQ(programs_in_submission(10, 300), 1800);
  EXPECT_EQ(programs_in_submission(100, 300), 300);
  EXPECT_EQ(programs_in_submission(10e3, 300), 2);
}

}  // namespace
}  // namespace assay
