// The sampler on simulated devices whose clock changes.

#include "harness/engine/timing/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace assay {
namespace {

constexpr double microsecond = 1e3;
constexpr double throttled_probe_ns = 80 * microsecond;
constexpr double program_ns = 100 * microsecond;

/// A device whose speed is a function of its state, which work and rest change.
struct FakeDevice {
  double now_s = 0;
  double work_s = 0;  ///< since it was idle last
  double heat_j = 0;  ///< grows with work, decays with rest
  std::function<double(const FakeDevice&)> speed = [](const FakeDevice&) { return 1.0; };

  void work(double ns) {
    now_s += ns * 1e-9;
    work_s += ns * 1e-9;
    heat_j += ns * 1e-9;
  }
  void idle(double seconds) {
    now_s += seconds;
    work_s = 0;
    heat_j = std::max(0.0, heat_j - 10 * seconds);
  }
};

class ThrottledSource : public SampleSource {
 public:
  explicit ThrottledSource(FakeDevice& device, double idle_s = 0) : device_(device), idle_s_(idle_s) {}
  void open_block() override { device_.idle(idle_s_); }
  Reading time_batch(int warm, int batch) override {
    ++submissions;
    device_.work(program_ns / device_.speed(device_) * (warm + batch));
    const double speed = device_.speed(device_);
    device_.work(throttled_probe_ns / speed);
    return {program_ns / speed * batch, throttled_probe_ns / speed};
  }
  Audit audit(int /*warm*/, int /*batch*/, double /*most_s*/) override { return {}; }
  std::uint64_t chance() override { return 0; }
  bool close_block() override { return true; }

  int submissions = 0;

 private:
  FakeDevice& device_;
  double idle_s_;
};

SamplingOptions options_for(FakeDevice& device) {
  SamplingOptions options;
  options.now_s = [&device] { return device.now_s; };
  options.sleep_s = [&device](double seconds) { device.idle(seconds); };
  return options;
}

Samples sample(ThrottledSource& source, const SamplingOptions& options) {
  SampleSource* sources[] = {&source};
  return sample_interleaved(sources, options).front();
}

double slowest_us(const Samples& samples) {
  const std::vector<double> all = samples.all();
  return *std::max_element(all.begin(), all.end()) / microsecond;
}

TEST(Throttling, ADeviceThatIdlenessSlowsIsHeatedUntilTheClockProbeRunsAtFullClock) {
  FakeDevice device;
  device.speed = [](const FakeDevice& d) { return d.work_s < 0.4 ? 0.2 : 1.0; };
  ThrottledSource source(device, 0.3);
  const Samples samples = sample(source, options_for(device));
  EXPECT_EQ(slowest_us(samples), 100);
  EXPECT_EQ(samples.discarded, 0) << "heating is no sampling";
  EXPECT_DOUBLE_EQ(samples.probe_ns, throttled_probe_ns);
}

TEST(Throttling, ADeviceAtFullClockIsNotHeated) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_EQ(samples.all().size(), 50U);
  EXPECT_LE(source.submissions, 50 + 5 * 3 + 5) << "samples, three looks a block, the first warm-up";
  ThrottledSource other(device);
  options.readings_between = 1;
  EXPECT_EQ(sample(other, options).all().size(), 50U);
  EXPECT_LE(other.submissions, 50 + 3 + 4 * 1 + 5) << "three looks before the first block, one before others";
}

TEST(Throttling, ASampleTakenWhileTheClockWasDownIsThrownAwayAndCounted) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  int look = 0;
  ThrottledSource source(device);
  device.speed = [&look, &source](const FakeDevice&) {
    return source.submissions > 10 && ++look % 8 < 2 ? 0.5 : 1.0;
  };
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_GT(samples.discarded, 0);
  EXPECT_EQ(slowest_us(samples), 100);
}

TEST(Throttling, AHotDeviceRests) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  device.heat_j = 5;
  device.speed = [](const FakeDevice& d) { return d.heat_j > 4 ? 0.7 : 1.0; };
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_EQ(slowest_us(samples), 100);
  EXPECT_GE(samples.resting_s, options.rest_s);
  EXPECT_LE(samples.resting_s, options.most_rests * options.rest_s + 1e-9);
  EXPECT_GT(samples.heating_s, 0) << "until it rests";
  EXPECT_LT(samples.heating_s, device.now_s - samples.resting_s);
  options.most_rests = 0;
  device.heat_j = 50;
  EXPECT_GT(slowest_us(sample(source, options)), 140) << "the simulation does show it";
}

TEST(Throttling, AProgramThatAlwaysLowersTheClockIsMeasuredAtItsOwn) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  device.speed = [](const FakeDevice&) { return 0.8; };
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_EQ(samples.blocks.size(), 5U) << "it ends";
  EXPECT_NEAR(slowest_us(samples), 125, 1e-9);
  EXPECT_LE(samples.discarded, options.samples_per_block) << "a block of tries, then its clock is accepted";
  EXPECT_NEAR(clock.full_clock_ns() / samples.probe_ns, 0.8, 1e-9) << "and told";
}

TEST(Throttling, AProgramWhosePowerLowersTheClockALittleIsNotHeatedForLong) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  device.speed = [](const FakeDevice&) { return 0.95; };
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_NEAR(clock.full_clock_ns() / samples.probe_ns, 0.95, 1e-9);
  EXPECT_LE(samples.heating_s, 2.5 * options.settled_s) << "before and after the rest";
  EXPECT_DOUBLE_EQ(samples.resting_s, options.rest_s) << "a rest that does not help is the last";
}

/// Rows of one device, one after the other, which share what is known about its clock.
struct RowsOfADevice {
  FakeDevice device;
  ClockWatch clock;

  RowsOfADevice() {
    for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  }
  Samples next() {
    ThrottledSource source(device);
    SamplingOptions options = options_for(device);
    options.clock = &clock;
    return sample(source, options);
  }
};

TEST(Throttling, ALowerClockThatNothingRaisesIsAcceptedForTheNextRowsToo) {
  RowsOfADevice rows;
  rows.device.speed = [](const FakeDevice&) { return 0.95; };
  const Samples first = rows.next();
  EXPECT_GT(first.resting_s, 0);
  const Samples second = rows.next();
  EXPECT_EQ(second.resting_s, 0);
  EXPECT_EQ(second.discarded, 0);
  EXPECT_LT(second.heating_s, 0.5 * first.heating_s);
  EXPECT_DOUBLE_EQ(second.probe_ns, throttled_probe_ns / 0.95) << "and the row says so";
  rows.device.idle(60);
  EXPECT_GT(rows.next().resting_s, 0) << "after a while the device is given another chance";
}

TEST(Throttling, AnAcceptedClockEndsWhenAHigherOneIsSeen) {
  RowsOfADevice rows;
  rows.device.speed = [](const FakeDevice&) { return 0.93; };
  rows.next();
  const double now_s = rows.device.now_s;
  rows.device.speed = [now_s](const FakeDevice& d) { return d.now_s < now_s + 0.02 ? 0.93 : 1.0; };
  rows.next();
  rows.device.speed = [](const FakeDevice&) { return 0.93; };
  EXPECT_GT(rows.next().resting_s, 0);
}

TEST(Throttling, ADipAfterRestsThatHelpedIsNotAcceptedForTheNextRow) {
  RowsOfADevice rows;
  rows.device.heat_j = 5;
  rows.device.speed = [](const FakeDevice& d) { return d.heat_j > 4 ? 0.92 : 1.0; };
  ASSERT_GT(rows.next().resting_s, 0);
  EXPECT_FALSE(rows.clock.is_accepted(throttled_probe_ns / 0.92, rows.device.now_s)) << "rests help";
}

TEST(Throttling, AnAcceptedClockCoversNoLowerOne) {
  RowsOfADevice rows;
  rows.device.speed = [](const FakeDevice&) { return 0.95; };
  rows.next();
  rows.device.speed = [](const FakeDevice&) { return 0.93; };
  EXPECT_GT(rows.next().resting_s, 0);
}

TEST(Throttling, AClockFarBelowFullIsAcceptedForOneRowOnly) {
  RowsOfADevice rows;
  rows.device.speed = [](const FakeDevice&) { return 0.8; };
  rows.next();
  EXPECT_GT(rows.next().resting_s, 0) << "a program that draws much power says nothing about the next";
}

TEST(Throttling, AClockThatStillRisesIsWaitedForWhereverItIs) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  device.speed = [](const FakeDevice& d) { return std::min(1.0, 0.9 + 0.15 * d.work_s); };
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_GE(clock.full_clock_ns() / samples.probe_ns, 0.97) << "in every block, without creeping down";
  EXPECT_EQ(samples.resting_s, 0);
}

TEST(Throttling, ARestThatHelpsIsRepeated) {
  FakeDevice device;
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  device.heat_j = 6;
  device.speed = [](const FakeDevice& d) { return d.heat_j > 4.5 ? 0.92 : d.heat_j > 2 ? 0.95 : 1.0; };
  ThrottledSource source(device);
  SamplingOptions options = options_for(device);
  options.clock = &clock;
  const Samples samples = sample(source, options);
  EXPECT_EQ(slowest_us(samples), 100);
  EXPECT_DOUBLE_EQ(samples.resting_s, 2 * options.rest_s);
}

TEST(Throttling, OnACpuARowsOwnBestClockProbesAreTheMeasureToo) {
  const auto slowest = [](double own_tolerance) {
    FakeDevice device;
    ClockWatch clock(0.25);
    for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
    ThrottledSource source(device);
    // Disturbed now and then, by less than clock probes of different rows differ.
    device.speed = [&source](const FakeDevice&) {
      return source.submissions > 20 && source.submissions % 5 == 0 ? 0.85 : 1.0;
    };
    SamplingOptions options = options_for(device);
    options.clock = &clock;
    options.own_clock_tolerance = own_tolerance;
    return slowest_us(sample(source, options));
  };
  EXPECT_EQ(slowest(0.08), 100);
  EXPECT_GT(slowest(0), 117) << "the simulation does show it";
}

TEST(Throttling, ADriftOfTheProgramAloneIsNoThrottling) {
  FakeDevice device;
  ThrottledSource source(device);
  const Samples samples = sample(source, options_for(device));
  EXPECT_EQ(samples.discarded, 0);
}

TEST(ClockWatch, KnowsNothingUntilItHasHeardAFew) {
  ClockWatch clock;
  for (int i = 0; i < 4; ++i) clock.hear(throttled_probe_ns);
  EXPECT_EQ(clock.full_clock_ns(), 0);
  EXPECT_FALSE(clock.is_down(100 * throttled_probe_ns));
  clock.hear(throttled_probe_ns);
  EXPECT_DOUBLE_EQ(clock.full_clock_ns(), throttled_probe_ns);
  EXPECT_TRUE(clock.is_down(1.04 * throttled_probe_ns));
  EXPECT_FALSE(clock.is_down(1.02 * throttled_probe_ns));
}

TEST(ClockWatch, ASingleFastReadingIsNoFullClock) {
  ClockWatch clock;
  for (int i = 0; i < 20; ++i) clock.hear(i == 10 ? throttled_probe_ns / 2 : throttled_probe_ns);
  EXPECT_DOUBLE_EQ(clock.full_clock_ns(), throttled_probe_ns);
}

TEST(ClockWatch, LearnsAFasterClockAndForgetsNoneForASlowerOne) {
  ClockWatch clock;
  for (int i = 0; i < 5; ++i) clock.hear(2 * throttled_probe_ns);
  for (int i = 0; i < 5; ++i) clock.hear(throttled_probe_ns);
  for (int i = 0; i < 50; ++i) clock.hear(3 * throttled_probe_ns);
  EXPECT_DOUBLE_EQ(clock.full_clock_ns(), throttled_probe_ns);
}

TEST(ClockWatch, ClockProbesThatDifferAtOneClockWidenWhatIsAccepted) {
  ClockWatch clock;
  for (const double share : {0.98, 1.0, 1.02, 0.98, 1.02}) clock.hear(share * throttled_probe_ns);
  EXPECT_FALSE(clock.is_down(1.08 * throttled_probe_ns));
  EXPECT_TRUE(clock.is_down(1.2 * throttled_probe_ns));
}

TEST(ClockWatch, WhatIsNoTimeTellsNothing) {
  ClockWatch clock;
  for (int i = 0; i < 10; ++i) clock.hear(0);
  EXPECT_EQ(clock.full_clock_ns(), 0);
}

}  // namespace
}  // namespace assay
