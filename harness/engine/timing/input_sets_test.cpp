#include "harness/engine/timing/input_sets.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

TEST(ColdSets, AreTwiceTheCacheTogether) {
  const SetPlan found = cold_sets(mib, 50 * mib, 80 * gib);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(found.kind, InputSets::Cold);
  EXPECT_EQ(found.sets, 101);
}

TEST(ColdSets, AreTwoWhereOneIsBeyondTheCacheAlready) {
  EXPECT_EQ(cold_sets(512 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib).sets, 2);
}

TEST(ColdSets, AnUnknownCacheIsTakenForALargeOne) {
  EXPECT_EQ(cold_sets(mib, 0, 80 * gib).sets, 129);
}

TEST(ColdSets, TooManyAreRefusedWithTheNumbers) {
  const std::string refusal = cold_sets(4096, 50 * mib, 80 * gib).refusal;
  EXPECT_THAT(refusal, HasSubstr("2048 sets of 4096 bytes"));
  EXPECT_THAT(refusal, HasSubstr("105 MB"));
}

TEST(ColdSets, MoreThanHalfOfTheMemoryIsRefused) {
  EXPECT_THAT(cold_sets(mib, 300 * mib, gib).refusal, HasSubstr("more than half"));
  EXPECT_EQ(cold_sets(mib, 100 * mib, gib).refusal, "");
}

TEST(HotSets, AlternateByProgramWhereBothFitHalfOfTheCache) {
  const SetPlan plan = hot_sets(12 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib);
  EXPECT_EQ(plan.kind, InputSets::AlternateByProgram);
  EXPECT_EQ(plan.sets, 2);
  EXPECT_EQ(plan.refusal, "");
  EXPECT_EQ(hot_sets(16 * static_cast<std::int64_t>(mib), 0, 80 * gib).kind, InputSets::AlternateByProgram)
      << "an unknown cache is taken for 64 MiB";
}

TEST(HotSets, AlternateByBatchWhereTheyDoNot) {
  const SetPlan plan = hot_sets(13 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib);
  EXPECT_EQ(plan.kind, InputSets::AlternateByBatch);
  EXPECT_EQ(plan.sets, 2);
}

TEST(HotSets, AreOneWhereTheMemoryHoldsNoTwo) {
  const SetPlan plan = hot_sets(static_cast<std::int64_t>(gib / 2), 50 * mib, gib);
  EXPECT_EQ(plan.kind, InputSets::One);
  EXPECT_EQ(plan.sets, 1);
}

}  // namespace
}  // namespace assay
