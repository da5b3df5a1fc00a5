#include "harness/tensor/fill/random_bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay {
namespace {

using testing::ElementsAre;

std::vector<Bits> read(const DataKey& key, std::int64_t first, std::size_t count) {
  std::vector<Bits> bits(count);
  RandomBits(key).read(first, bits);
  return bits;
}

TEST(RandomBitsTest, AnElementsBitsDependOnItsIndexOnly) {
  const DataKey key{1, 2, 3};
  const std::vector<Bits> all = read(key, 0, 1003);
  for (std::int64_t first = 0; first < 1000; first += 4) {
    for (const std::size_t count : {1U, 2U, 3U}) {
      const std::vector<Bits> some = read(key, first, count);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(some[i], all[static_cast<std::size_t>(first) + i]);
    }
  }
}

TEST(RandomBitsTest, SeedKeyAndTensorEachChangeTheBits) {
  const std::vector<DataKey> keys{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {2, 0, 0}};
  std::set<std::uint32_t> firsts;
  for (const DataKey& key : keys) firsts.insert(read(key, 0, 1)[0].a);
  EXPECT_EQ(firsts.size(), keys.size());
}

TEST(RandomBitsTest, IndicesBeyond32BitsHaveBitsOfTheirOwn) {
  const DataKey key;
  EXPECT_NE(read(key, 0, 1)[0], read(key, std::int64_t{4} << 32, 1)[0]);
}

TEST(RandomBitsTest, NothingIsReadIntoAnEmptySpan) {
  EXPECT_TRUE(read({}, 0, 0).empty());
}

TEST(RandomBitsTest, PickIsBelowTheCountAndVaries) {
  std::set<std::int64_t> picks;
  for (std::uint32_t tensor = 0; tensor < 64; ++tensor) {
    const std::int64_t pick = RandomBits({7, 8, tensor}).pick(10);
    EXPECT_GE(pick, 0);
    EXPECT_LT(pick, 10);
    picks.insert(pick);
    EXPECT_EQ(RandomBits({7, 8, tensor}).pick(1), 0);
  }
  EXPECT_EQ(picks.size(), 10U);
}

TEST(RandomBitsTest, BelowCoversItsRangeToTheEnds) {
  EXPECT_EQ(below(10, 0), 0);
  EXPECT_EQ(below(10, 0xffffffffU), 9);
  EXPECT_EQ(below(1, 0xffffffffU), 0);
  EXPECT_EQ(below(1ULL << 32, 0xffffffffU), 0xffffffffLL);
}

TEST(RandomBitsTest, TheBellIsSymmetricWithTheStatedEnds) {
  EXPECT_EQ(bell({0, 0}), -bell_end);
  EXPECT_EQ(bell({0xffffffffU, 0xffffffffU}), bell_end);
  EXPECT_EQ(bell({0xffff0000U, 0x0000ffffU}), 0);
}

constexpr std::uint32_t ones = 0xffffffffU;

// The known answers that Random123 publishes for philox4x32-10.
TEST(PhiloxTest, MeetsTheKnownAnswerForZeros) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U));
}

TEST(PhiloxTest, MeetsTheKnownAnswerForOnes) {
  EXPECT_THAT(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU));
}

TEST(PhiloxTest, MeetsTheKnownAnswerForTheDigitsOfPi) {
  EXPECT_THAT(philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
              ElementsAre(0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U));
}

}  // namespace
}  // namespace assay
