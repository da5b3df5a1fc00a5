#include "harness/tensor/fill/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;

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
