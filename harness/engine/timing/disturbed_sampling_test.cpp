#include "harness/base/statistics.h"
#include "harness/engine/timing/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace assay {

// The sampler on simulated devices whose clock changes.

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

/// A device whose only queue a compositor shares: its work of 4 ms runs every 16.7 ms, and what is submitted
/// meanwhile takes as much longer.
class ComposedSource : public SampleSource {
 public:
  explicit ComposedSource(FakeDevice& device) : device_(device) {}
  void open_block() override {}
  Reading time_batch(int warm, int batch) override {
    take(program_ns * warm);
    const double ns = take(program_ns * batch);
    return {ns, take(throttled_probe_ns)};
  }
  Audit audit(int /*warm*/, int /*batch*/, double /*most_s*/) override { return {}; }
  std::uint64_t chance() override { return 0; }
  bool close_block() override { return true; }

  int composed = 0;

 private:
  /// The time of work of `ns` between its timestamps.
  double take(double ns) {
    constexpr double frame_s = 1.0 / 60, compositor_ns = 4e6;
    const double before_s = device_.now_s;
    device_.work(ns);
    if (std::floor(before_s / frame_s) == std::floor(device_.now_s / frame_s)) return ns;
    ++composed;
    device_.work(compositor_ns);
    return ns + compositor_ns;
  }

  FakeDevice& device_;
};

TEST(SharedQueue, ACompositorDoesNotMoveTheMedian) {
  FakeDevice device;
  ComposedSource source(device);
  SampleSource* sources[] = {&source};
  const Samples samples = sample_interleaved(sources, options_for(device)).front();
  EXPECT_GT(source.composed, 10) << "the simulation disturbs it";
  EXPECT_DOUBLE_EQ(median(samples.all()) / microsecond, 100);
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

constexpr double one_us = 1e3;
constexpr double probe_ns = 5 * one_us;

/// A program of 100 us with a clock probe, on a clock that advances only with work.
class SteadySource : public SampleSource {
 public:
  explicit SteadySource(double& now_s, double program_ns = 100 * one_us)
      : now_s_(now_s), program_ns_(program_ns) {}

  void open_block() override { ++blocks; }
  Reading time_batch(int warm, int batch) override {
    longest = std::max(longest, warm + batch);
    batches.push_back(batch);
    now_s_ += program_ns_ * (warm + batch) * 1e-9;
    return {program_ns_ * batch, probe_ns};
  }
  Audit audit(int /*warm*/, int /*batch*/, double /*most_s*/) override { return {}; }
  std::uint64_t chance() override { return 0; }
  bool close_block() override { return true; }

  int blocks = 0;
  int longest = 0;
  std::vector<int> batches;

 private:
  double& now_s_;
  double program_ns_;
};

/// This many blocks of an earlier attempt: two samples each, seven programs per sample, 100 us per program.
SampledBefore sampled(int blocks, double program_ns = 100 * one_us) {
  SampledBefore before;
  for (int round = 0; round < blocks; ++round) {
    before.blocks.push_back(
        {.round = round, .batch = 7, .samples_ns = {7 * program_ns, 7 * program_ns}, .probe_ns = probe_ns});
  }
  return before;
}

class ResumedSampling : public testing::Test {
 protected:
  std::vector<Samples> sample(const std::vector<SampledBefore>& before,
                              std::span<const std::size_t> comparison_groups = {}) {
    std::vector<SampleSource*> pointers;
    for (std::size_t i = 0; i < before.size(); ++i) pointers.push_back(&sources_[i]);
    options_.now_s = [this] { return now_s_; };
    options_.sleep_s = [this](double s) { now_s_ += s; };
    options_.block_ended = [this](std::size_t source, const Block& block) { told_[source].push_back(block); };
    return sample_interleaved(pointers, options_, comparison_groups, before);
  }

  std::vector<int> rounds(std::size_t source) const {
    std::vector<int> rounds;
    for (const Block& block : told_[source]) rounds.push_back(block.round);
    return rounds;
  }

  double now_s_ = 0;
  std::array<SteadySource, 2> sources_{SteadySource(now_s_), SteadySource(now_s_)};
  SamplingOptions options_;
  std::array<std::vector<Block>, 2> told_;
};

TEST_F(ResumedSampling, GoesOnWithTheBlocksThatItLacks) {
  const Samples samples = sample({sampled(3)}).front();
  EXPECT_EQ(samples.stop, "interval");
  ASSERT_EQ(samples.blocks.size(), 5U);
  EXPECT_EQ(samples.blocks[0], (std::vector<double>{100 * one_us, 100 * one_us}));
  EXPECT_EQ(samples.blocks[3].size(), 10U);
  EXPECT_EQ(rounds(0), (std::vector<int>{3, 4})) << "only new blocks are told";
  EXPECT_EQ(told_[0][0].skipped, 0);
  EXPECT_EQ(samples.probe_ns, probe_ns);
}

TEST_F(ResumedSampling, KeepsBatchAndWarmOfTheBlocksBefore) {
  const Samples samples = sample({sampled(3)}).front();
  EXPECT_EQ(samples.batch, 7) << "10 would be a millisecond";
  EXPECT_EQ(samples.warm, 1);
  EXPECT_EQ(told_[0][0].batch, 7);
  for (const int batch : sources_[0].batches) EXPECT_EQ(batch, 7);
}

TEST_F(ResumedSampling, RunsNoLongerSubmissionsThanAllowed) {
  SampledBefore long_ones = sampled(3, 30e6);
  for (Block& block : long_ones.blocks) block.batch = 1;
  EXPECT_EQ(sample({long_ones}).front().warm, 0) << "two programs of 210 ms are more than 50 ms";
}

TEST_F(ResumedSampling, NeedsNoBlockWhereThoseBeforeSuffice) {
  const Samples samples = sample({sampled(5)}).front();
  EXPECT_EQ(samples.stop, "interval");
  EXPECT_EQ(samples.blocks.size(), 5U);
  EXPECT_FALSE(samples.stopped);
  EXPECT_EQ(samples.batch, 7);
  EXPECT_EQ(samples.warm, 1) << "for the passes behind";
  EXPECT_EQ(sources_[0].blocks, 0);
}

TEST_F(ResumedSampling, CountsBlocksAndTimeOfBeforeAgainstTheLimits) {
  SampledBefore noisy = sampled(6);
  for (Block& block : noisy.blocks) block.samples_ns.assign(2, block.round % 2 == 0 ? 1e6 : 2e6);
  options_.max_blocks = 6;
  EXPECT_EQ(sample({noisy}).front().stop, "budget");
  options_.max_blocks = 25;
  options_.budget_s = 0.018;
  EXPECT_EQ(sample({noisy}).front().stop, "budget") << "they are 18 ms of samples";
  EXPECT_EQ(sources_[0].blocks, 0);
  options_.budget_s = 1;
  EXPECT_GT(sample({noisy}).front().blocks.size(), 6U);
}

TEST_F(ResumedSampling, AWrongBlockOfBeforeIsTheEndOfItsRow) {
  SampledBefore wrong = sampled(2);
  wrong.blocks.back().wrong = true;
  const std::vector<Samples> samples = sample({wrong, {}});
  EXPECT_FALSE(samples[0].verified);
  EXPECT_EQ(sources_[0].blocks, 0);
  EXPECT_TRUE(samples[1].verified);
}

TEST_F(ResumedSampling, RowsThatAreComparedGoOnInRoundsThatNoneOfThemHad) {
  const std::size_t together[] = {4, 4};
  const std::vector<Samples> samples = sample({sampled(4), sampled(3)}, together);
  EXPECT_EQ(rounds(0), (std::vector<int>{4, 5}));
  EXPECT_EQ(rounds(1), (std::vector<int>{4, 5}));
  EXPECT_EQ(told_[0][0].skipped, 0);
  EXPECT_EQ(told_[1][0].skipped, 1) << "round 3, which the other had alone";
  EXPECT_EQ(told_[1][1].skipped, 0);
  EXPECT_EQ(samples[1].blocks.size(), 5U);
}

TEST_F(ResumedSampling, RowsThatAreNotComparedHaveTheirOwnRounds) {
  sample({sampled(4), {}});
  EXPECT_EQ(rounds(0), (std::vector<int>{4}));
  EXPECT_EQ(rounds(1), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(ResumedSampling, KeepsAwayFromTheRoundsOfRowsThatHaveEnded) {
  SampledBefore none;
  none.next_round = 5;
  const std::size_t together[] = {4, 4};
  sample({none, {}}, together);
  EXPECT_EQ(rounds(0).front(), 5);
  EXPECT_EQ(rounds(1).front(), 5);
  EXPECT_EQ(told_[1].front().skipped, 5);
}

}  // namespace

}  // namespace assay
