#include "harness/engine/timing/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

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
