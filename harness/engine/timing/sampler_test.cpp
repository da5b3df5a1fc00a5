#include "harness/engine/timing/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

constexpr double ms = 1e6;
constexpr double us = 1e3;

/// A clock that advances only with work.
struct FakeClock {
  double now_s = 0;
  std::vector<int> openings;  ///< which source opened a block, in order
};

struct Submission {
  int warm = 0;
  int batch = 0;
  double ns = 0;  ///< true time on the device
};

/// A program that takes `program_ns(block)` each time, on a device that is read through `timer`.
class FakeSource : public SampleSource {
 public:
  FakeSource(FakeClock& clock, std::function<double(int block)> program_ns, int id = 0)
      : clock_(clock), program_ns_(std::move(program_ns)), id_(id) {}

  void open_block() override {
    ++block_;
    clock_.openings.push_back(id_);
    if (opened) opened();
  }

  Reading time_batch(int warm, int batch) override {
    const double each = program_ns_(block_);
    submissions.push_back({warm, batch, each * (warm + batch)});
    clock_.now_s += (each * (warm + batch) + 20 * us) * 1e-9;
    return {timer(each * batch)};
  }

  Audit audit(int warm, int batch, double most_s) override {
    audits.push_back({block_, submissions.size(), most_s});
    clock_.now_s += program_ns_(block_) * (warm + batch) * 1e-9;
    return {.is_right = block_ < wrong_audit, .single = {program_ns_(block_)}};
  }
  std::uint64_t chance() override { return drawn++; }
  int most_programs() const override { return most; }
  int most = std::numeric_limits<int>::max();
  bool close_block() override { return block_ < wrong_block; }
  void abandon_block() override { ++abandoned; }
  int abandoned = 0;

  struct Audited {
    int block = 0;
    std::size_t submissions_before = 0;
    double most_s = 0;
  };
  std::vector<Audited> audits;
  std::uint64_t drawn = 0;
  int wrong_audit = std::numeric_limits<int>::max();
  std::vector<Submission> submissions;
  std::function<double(double)> timer = [](double ns) { return ns; };
  std::function<void()> opened;
  int wrong_block = std::numeric_limits<int>::max();

 private:
  FakeClock& clock_;
  std::function<double(int)> program_ns_;
  int id_;
  int block_ = -1;
};

std::function<double(int)> always(double ns) {
  return [ns](int) { return ns; };
}

/// Times with pseudo-random factors 1 +- `share`, which are equal in every run.
std::function<double(int)> noisy(double ns, double share) {
  return [=, step = 0](int) mutable {
    const double turn = std::fmod(++step * 0.6180339887498949, 1.0);
    return ns * (1 + share * (2 * turn - 1));
  };
}

SamplingOptions options_for(FakeClock& clock) {
  SamplingOptions options;
  options.now_s = [&clock] { return clock.now_s; };
  options.least_heat_s = 0;
  options.most_heat_s = 0;
  return options;
}

Samples sample(FakeSource& source, const SamplingOptions& options) {
  SampleSource* sources[] = {&source};
  return sample_interleaved(sources, options).front();
}

void expect_submissions_within(const FakeSource& source, double longest_ns) {
  for (const Submission& one : source.submissions) {
    EXPECT_LE(one.ns, longest_ns) << one.warm << " + " << one.batch << " programs";
  }
}

TEST(Sampler, AConstantTimeStopsByIntervalAfterTheFewestBlocks) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  const Samples samples = sample(source, options_for(clock));
  EXPECT_EQ(samples.stop, "interval");
  EXPECT_EQ(samples.blocks.size(), 5U);
  EXPECT_TRUE(samples.verified);
  EXPECT_EQ(samples.failure, nullptr);
  EXPECT_DOUBLE_EQ(samples.interval_pct, 0);
  EXPECT_EQ(samples.batch, 10) << "a millisecond";
  for (const double ns : samples.all()) EXPECT_DOUBLE_EQ(ns, 100 * us);
  for (const auto& block : samples.blocks) EXPECT_EQ(block.size(), 10U);
}

TEST(Sampler, TellsEachBlockAsItEndsInTheTimesThatWereMeasured) {
  FakeClock clock;
  FakeSource short_one(clock, always(100 * us), 0);
  FakeSource long_one(clock, always(300 * us), 1);
  long_one.wrong_block = 2;
  SampleSource* sources[] = {&short_one, &long_one};
  std::vector<std::vector<Block>> told(2);
  std::vector<std::size_t> turns;
  SamplingOptions options = options_for(clock);
  options.block_ended = [&](std::size_t source, const Block& block) {
    told[source].push_back(block);
    turns.push_back(source);
    EXPECT_EQ(clock.openings.size(), turns.size()) << "before the next block begins";
    EXPECT_EQ(static_cast<std::size_t>(clock.openings.back()), source);
  };
  const std::vector<Samples> samples = sample_interleaved(sources, options);
  ASSERT_EQ(told[0].size(), 5U);
  for (std::size_t i = 0; i < told[0].size(); ++i) {
    EXPECT_EQ(told[0][i].round, static_cast<int>(i));
    EXPECT_EQ(told[0][i].batch, 10);
    EXPECT_EQ(told[0][i].samples_ns, std::vector<double>(10, 1 * ms)) << "of ten programs";
    EXPECT_EQ(told[0][i].program_ns(), samples[0].blocks[i]);
    EXPECT_FALSE(told[0][i].wrong);
  }
  ASSERT_EQ(told[1].size(), 3U) << "the third has a wrong answer and is the last";
  EXPECT_FALSE(told[1][1].wrong);
  EXPECT_TRUE(told[1][2].wrong);
}

TEST(Sampler, ABlockThatFailedIsNotTold) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  source.opened = [] { throw std::runtime_error("no memory"); };
  SamplingOptions options = options_for(clock);
  options.block_ended = [](std::size_t, const Block&) { FAIL() << "it has no samples"; };
  EXPECT_NE(sample(source, options).failure, nullptr);
}

TEST(Sampler, WithoutAClockProbeEveryBlockIsHeatedForAWhile) {
  const auto slowest_us = [](double heat_s) {
    FakeClock clock;
    double opened_s = 0;
    FakeSource source(clock, [&](int) { return (clock.now_s - opened_s < 0.03 ? 300 : 100) * us; });
    source.opened = [&] { opened_s = clock.now_s; };
    SamplingOptions options = options_for(clock);
    options.least_heat_s = heat_s;
    const std::vector<double> all = sample(source, options).all();
    return *std::max_element(all.begin(), all.end()) / us;
  };
  EXPECT_EQ(slowest_us(0.05), 100);
  EXPECT_EQ(slowest_us(0), 300) << "the simulation does show it";
}

TEST(Sampler, NoiseBetweenBlocksStopsByBudget) {
  FakeClock clock;
  FakeSource source(clock, [](int block) { return (block % 3 == 0 ? 80 : 120) * us; });
  SamplingOptions options = options_for(clock);
  options.budget_s = 0.15;
  const Samples samples = sample(source, options);
  EXPECT_EQ(samples.stop, "budget");
  EXPECT_GT(samples.blocks.size(), 5U);
  EXPECT_LT(samples.blocks.size(), 25U);
  EXPECT_GT(samples.interval_pct, 1);
  EXPECT_GE(clock.now_s, 0.15);
  EXPECT_LT(clock.now_s, 0.15 + 0.03) << "the budget is left by a block at most";
}

TEST(Sampler, NoiseWithABudgetThatNeverEndsStopsAtTheMostBlocks) {
  FakeClock clock;
  FakeSource source(clock, [](int block) { return (block % 2 == 0 ? 80 : 120) * us; });
  SamplingOptions options = options_for(clock);
  options.budget_s = 1e9;
  const Samples samples = sample(source, options);
  EXPECT_EQ(samples.stop, "budget");
  EXPECT_EQ(samples.blocks.size(), 25U);
}

TEST(Sampler, NoiseWithinBlocksThatTheirMediansDoNotShowStopsByInterval) {
  FakeClock clock;
  FakeSource source(clock, noisy(100 * us, 0.002));
  const Samples samples = sample(source, options_for(clock));
  EXPECT_EQ(samples.stop, "interval");
  EXPECT_GT(samples.interval_pct, 0);
  EXPECT_LE(samples.interval_pct, 1);
}

TEST(Sampler, ADriftBetweenBlocksShowsInTheirMedians) {
  FakeClock clock;
  FakeSource source(clock, [](int block) { return (100 + 5 * block) * us; });
  SamplingOptions options = options_for(clock);
  options.max_blocks = 6;
  const Samples samples = sample(source, options);
  const std::vector<double> medians = samples.block_medians();
  ASSERT_EQ(medians.size(), 6U);
  EXPECT_TRUE(std::is_sorted(medians.begin(), medians.end()));
  EXPECT_NEAR(medians.back() - medians.front(), 25 * us, 1e-6);
  EXPECT_NEAR(samples.interval_pct, 100 * 12.5 / 112.5, 1e-6)
      << "six blocks: from the smallest to the largest";
}

TEST(Sampler, ASlowProgramIsTimedAloneAndFewTimes) {
  FakeClock clock;
  FakeSource source(clock, always(300 * ms));
  const Samples samples = sample(source, options_for(clock));
  EXPECT_EQ(samples.batch, 1);
  EXPECT_EQ(samples.blocks.size(), 5U);
  EXPECT_EQ(samples.all().size(), 5U) << "a block takes its share of the budget, a sample at least";
  EXPECT_LE(clock.now_s, 0.3 * 8) << "five samples and a little warm-up";
  for (const Submission& one : source.submissions) EXPECT_EQ(one.warm + one.batch, 1);
}

TEST(Sampler, AFastProgramIsBatchedUntilTheTimerSeesIt) {
  FakeClock clock;
  FakeSource source(clock, always(1 * us));
  source.timer = [](double ns) { return std::floor(ns / us) * us; };
  SamplingOptions options = options_for(clock);
  options.timer_unit_ns = 1 * us;
  options.sample_target_ns = 1;
  EXPECT_EQ(sample(source, options).batch, 50);
}

TEST(Sampler, ASourceMayAllowOneProgramPerSubmissionHoweverShort) {
  FakeClock clock;
  FakeSource source(clock, always(2 * us));
  source.most = 1;
  const Samples samples = sample(source, options_for(clock));
  EXPECT_EQ(samples.batch, 1);
  EXPECT_EQ(samples.warm, 0);
  for (const Submission& one : source.submissions) EXPECT_EQ(one.warm + one.batch, 1);
}

TEST(Sampler, ACoarseTimerLengthensTheSamples) {
  FakeClock clock;
  FakeSource source(clock, always(10 * us));
  source.timer = [](double ns) { return std::floor(ns / (100 * us)) * 100 * us; };
  SamplingOptions options = options_for(clock);
  options.timer_unit_ns = 100 * us;
  const Samples samples = sample(source, options);
  EXPECT_GE(samples.batch * 10 * us, 50 * 100 * us);
  for (const double ns : samples.all()) EXPECT_NEAR(ns, 10 * us, 0.02 * 10 * us);
  EXPECT_EQ(samples.failure, nullptr);
  expect_submissions_within(source, 50 * ms);
}

TEST(Sampler, NoSubmissionIsLongerThanAllowedUnlessAProgramIs) {
  for (const double each :
       {1 * us, 900 * us, 11 * ms, 17 * ms, 20 * ms, 26 * ms, 30 * ms, 49 * ms, 70 * ms}) {
    FakeClock clock;
    FakeSource source(clock, always(each));
    SamplingOptions options = options_for(clock);
    options.sample_target_ns = 1e12;  // more than is allowed
    const Samples samples = sample(source, options);
    EXPECT_EQ(samples.failure, nullptr);
    expect_submissions_within(source, std::max(each, 50 * ms));
    EXPECT_GE(samples.batch, std::min(std::floor(0.7 * 50 * ms / each), 10'000.0) - 1)
        << each << ": what is allowed is used";
  }
}

TEST(Sampler, ATimerThatSeesNothingOfOneProgramStillKeepsSubmissionsShort) {
  // 3 ms per program, but the device's clock steps by 20 ms, which was not measured.
  FakeClock clock;
  FakeSource source(clock, always(3 * ms));
  source.timer = [](double ns) { return std::floor(ns / (20 * ms)) * 20 * ms; };
  sample(source, options_for(clock));
  expect_submissions_within(source, 50 * ms);
}

TEST(Sampler, BlocksAreInterleavedInAnOrderThatChangesAndCanBeRepeated) {
  const auto openings = [](std::uint64_t seed) {
    FakeClock clock;
    std::vector<FakeSource> fakes;
    fakes.reserve(4);
    for (int i = 0; i < 4; ++i) fakes.emplace_back(clock, always(100 * us), i);
    std::vector<SampleSource*> sources;
    for (FakeSource& fake : fakes) sources.push_back(&fake);
    SamplingOptions options = options_for(clock);
    options.shuffle_seed = seed;
    sample_interleaved(sources, options);
    return clock.openings;
  };
  const std::vector<int> order = openings(1);
  ASSERT_EQ(order.size(), 20U);
  std::set<std::vector<int>> orders;
  for (auto block = order.begin(); block != order.end(); block += 4) {
    orders.insert({block, block + 4});
    EXPECT_EQ(std::set<int>(block, block + 4).size(), 4U) << "each block has every source once";
  }
  EXPECT_GT(orders.size(), 2U);
  EXPECT_EQ(openings(1), order);
  EXPECT_NE(openings(2), order);
  EXPECT_NE(openings(1ULL << 32), openings(0)) << "the seed's upper half counts";
}

TEST(Sampler, AWrongAnswerEndsItsRowUnverifiedAndNoOther) {
  FakeClock clock;
  FakeSource wrong(clock, always(100 * us), 0);
  FakeSource right(clock, always(100 * us), 1);
  wrong.wrong_block = 2;
  SampleSource* sources[] = {&wrong, &right};
  const std::vector<Samples> samples = sample_interleaved(sources, options_for(clock));
  EXPECT_FALSE(samples[0].verified);
  EXPECT_EQ(std::count(clock.openings.begin(), clock.openings.end(), 0), 3) << "it ends with the wrong block";
  EXPECT_TRUE(samples[1].verified);
  EXPECT_EQ(samples[1].stop, "interval");
}

TEST(Sampler, AuditsEveryBlockAtAnotherPlaceForAShareOfItsBudget) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  SampleSource* sources[] = {&source};
  SamplingOptions options = options_for(clock);
  options.min_blocks = options.max_blocks = 11;
  options.budget_s = 11;
  sample_interleaved(sources, options);
  ASSERT_EQ(source.audits.size(), 11U);
  std::size_t last = 0;
  std::set<std::size_t> distances;
  for (std::size_t i = 0; i < source.audits.size(); ++i) {
    EXPECT_EQ(source.audits[i].block, static_cast<int>(i));
    EXPECT_DOUBLE_EQ(source.audits[i].most_s, 0.02);
    distances.insert(source.audits[i].submissions_before - last);
    last = source.audits[i].submissions_before;
  }
  EXPECT_GT(distances.size(), 1U) << "not always after as many programs";
}

TEST(Sampler, AWrongAuditEndsItsRowUnverified) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  source.wrong_audit = 1;
  SampleSource* sources[] = {&source};
  const std::vector<Samples> samples = sample_interleaved(sources, options_for(clock));
  EXPECT_FALSE(samples[0].verified);
  EXPECT_EQ(source.audits.size(), 2U);
}

TEST(Sampler, AuditsTakeNoTimeFromSamples) {
  for (const double ns : {2 * ms, 60 * ms}) {
    FakeClock clock;
    FakeSource source(clock, always(ns));
    SampleSource* sources[] = {&source};
    SamplingOptions options = options_for(clock);
    options.min_blocks = options.max_blocks = 5;
    const std::vector<Samples> samples = sample_interleaved(sources, options);
    const std::size_t in_200_ms = ns > 50 * ms ? 4 : 10;
    for (const auto& block : samples[0].blocks) EXPECT_EQ(block.size(), in_200_ms) << ns;
    EXPECT_EQ(source.audits.size(), 5U);
  }
}

TEST(Sampler, AnAuditedProgramThatIsASubmissionByItselfIsASample) {
  FakeClock clock;
  FakeSource source(clock, always(300 * ms));
  SampleSource* sources[] = {&source};
  const std::vector<Samples> samples = sample_interleaved(sources, options_for(clock));
  ASSERT_EQ(samples[0].blocks.size(), 5U);
  for (const auto& block : samples[0].blocks) EXPECT_EQ(block, std::vector<double>{300 * ms});
  EXPECT_EQ(source.audits.size(), 5U);
}

TEST(Sampler, ASourceThatThrowsEndsItsRowAndNoOther) {
  FakeClock clock;
  FakeSource broken(clock, [](int block) -> double {
    if (block == 1) throw std::runtime_error("device lost");
    return 100 * us;
  });
  FakeSource fine(clock, always(100 * us), 1);
  SampleSource* sources[] = {&broken, &fine};
  const std::vector<Samples> samples = sample_interleaved(sources, options_for(clock));
  ASSERT_NE(samples[0].failure, nullptr);
  EXPECT_THROW(std::rethrow_exception(samples[0].failure), std::runtime_error);
  EXPECT_EQ(samples[0].blocks.size(), 1U) << "what was sampled before stays";
  EXPECT_EQ(samples[1].stop, "interval");
  EXPECT_EQ(samples[1].failure, nullptr);
}

/// The message of a source's failure; empty when it did not fail.
std::string failure_of(const Samples& samples) try {
  if (samples.failure) std::rethrow_exception(samples.failure);
  return "";
} catch (const std::exception& error) {
  return error.what();
}

TEST(Sampler, AClockThatStandsStillFailsTheRowInsteadOfHanging) {
  for (const double stuck : {0.0, -1.0 * ms, std::numeric_limits<double>::quiet_NaN()}) {
    FakeClock clock;
    FakeSource source(clock, always(100 * us));
    source.timer = [stuck](double) { return stuck; };
    const Samples samples = sample(source, options_for(clock));
    EXPECT_NE(failure_of(samples).find("no positive time"), std::string::npos)
        << stuck << failure_of(samples);
    EXPECT_TRUE(samples.all().empty()) << "no such reading is a time";
    expect_submissions_within(source, 50 * ms);
  }
}

TEST(Sampler, BothClocksStandingStillDoNotHang) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  source.timer = [](double) { return 0.0; };
  SamplingOptions options = options_for(clock);
  options.now_s = [] { return 1.0; };
  EXPECT_NE(failure_of(sample(source, options)), "");
}

TEST(Sampler, AReadingThatJumpsBackIsLeftOut) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  int reading = 0;
  source.timer = [&reading](double ns) { return ++reading % 7 == 0 ? -5e9 : ns; };
  const Samples samples = sample(source, options_for(clock));
  EXPECT_EQ(samples.failure, nullptr);
  EXPECT_EQ(samples.stop, "interval");
  for (const double ns : samples.all()) EXPECT_DOUBLE_EQ(ns, 100 * us);
}

TEST(Sampler, WarmUpOutlastsASlowStart) {
  FakeClock clock;
  int submissions = 0;
  FakeSource source(clock, [&submissions](int) { return std::max(0.1, 6.0 - ++submissions) * ms; });
  const Samples samples = sample(source, options_for(clock));
  for (const double ns : samples.all()) EXPECT_DOUBLE_EQ(ns, 100 * us) << "a cold sample was taken";
  EXPECT_EQ(samples.batch, 10);
}

TEST(Sampler, AFirstSubmissionThatStallsDoesNotMakeABatchOfOne) {
  FakeClock clock;
  FakeSource source(
      clock, [first = true](int) mutable { return std::exchange(first, false) ? 300 * ms : 100 * us; });
  EXPECT_EQ(sample(source, options_for(clock)).batch, 10) << "a millisecond";
}

TEST(Sampler, AComparisonGroupEndsInOneRound) {
  FakeClock clock;
  FakeSource steady(clock, always(100 * us), 0);
  FakeSource noisy_blocks(
      clock, [](int block) { return (block % 3 == 0 ? 80 : 120) * us; }, 1);
  FakeSource alone(clock, always(100 * us), 2);
  SampleSource* sources[] = {&steady, &noisy_blocks, &alone};
  const std::size_t comparison_groups[] = {7, 7, 2};
  SamplingOptions options = options_for(clock);
  options.budget_s = 0.15;
  const std::vector<Samples> samples = sample_interleaved(sources, options, comparison_groups);
  EXPECT_GT(samples[1].blocks.size(), 5U) << "the noisy one needs more";
  EXPECT_EQ(samples[0].blocks.size(), samples[1].blocks.size());
  EXPECT_EQ(samples[0].stop, "interval");
  EXPECT_EQ(samples[1].stop, "budget");
  EXPECT_EQ(samples[2].blocks.size(), 5U) << "a row that is compared with none waits for none";
}

TEST(Sampler, AComparisonGroupGoesOnWithoutTheOneThatFailed) {
  FakeClock clock;
  FakeSource wrong(clock, always(100 * us), 0);
  FakeSource right(clock, always(100 * us), 1);
  wrong.wrong_block = 2;
  SampleSource* sources[] = {&wrong, &right};
  const std::size_t comparison_groups[] = {0, 0};
  const std::vector<Samples> samples = sample_interleaved(sources, options_for(clock), comparison_groups);
  EXPECT_FALSE(samples[0].verified);
  EXPECT_EQ(samples[1].stop, "interval");
  EXPECT_EQ(samples[1].blocks.size(), 5U);
}

TEST(Sampler, AStopEndsAllThatHaveNotSeenEnough) {
  FakeClock clock;
  FakeSource steady(clock, always(100 * us), 0);
  FakeSource noisy_blocks(
      clock, [](int block) { return (block % 3 == 0 ? 80 : 120) * us; }, 1);
  SampleSource* sources[] = {&steady, &noisy_blocks};
  SamplingOptions options = options_for(clock);
  int blocks = 0;
  options.stop_requested = [&] { return ++blocks > 11; };  // five rounds of both sources, and one block
  const std::vector<Samples> samples = sample_interleaved(sources, options);
  EXPECT_FALSE(samples[0].stopped) << "it had finished";
  EXPECT_EQ(samples[0].stop, "interval");
  EXPECT_TRUE(samples[1].stopped);
  EXPECT_EQ(samples[1].blocks.size(), 6U);
  EXPECT_EQ(samples[1].failure, nullptr) << "a stop is no failure of the row";
}

TEST(Sampler, AStopBeforeTheFirstBlockLeavesNoSamples) {
  FakeClock clock;
  FakeSource source(clock, always(100 * us));
  SamplingOptions options = options_for(clock);
  options.stop_requested = [] { return true; };
  const Samples samples = sample(source, options);
  EXPECT_TRUE(samples.stopped);
  EXPECT_TRUE(samples.blocks.empty());
  EXPECT_TRUE(source.submissions.empty());
}

TEST(Sampler, NoSourcesGiveNoSamples) {
  EXPECT_TRUE(sample_interleaved({}, {}).empty());
}

TEST(Sampling, ABlockThatFailsIsAbandoned) {
  FakeClock clock;
  FakeSource source(clock, [](int block) {
    if (block == 2) throw std::runtime_error("lost");
    return 100 * us;
  });
  EXPECT_TRUE(sample(source, options_for(clock)).failure);
  EXPECT_EQ(source.abandoned, 1);
}

}  // namespace
}  // namespace assay
