#include "harness/op/program.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t one_dimension = 65535LL * 64;

TEST(FoldGridTest, SmallGridsStayInOneDimension) {
  EXPECT_THAT(fold_grid(1, 64), ElementsAre(1, 1, 1));
  EXPECT_THAT(fold_grid(64, 64), ElementsAre(1, 1, 1));
  EXPECT_THAT(fold_grid(65, 64), ElementsAre(2, 1, 1));
  EXPECT_THAT(fold_grid(one_dimension, 64), ElementsAre(65535, 1, 1));
}

TEST(FoldGridTest, NoInvocationsStillGiveALegalGrid) {
  EXPECT_THAT(fold_grid(0, 64), ElementsAre(1, 1, 1));
}

TEST(FoldGridTest, AGridOneWorkgroupTooLongIsFoldedEvenly) {
  EXPECT_THAT(fold_grid(one_dimension + 1, 64), ElementsAre(32768, 2, 1));
}

TEST(FoldGridTest, TakesNoMoreAlongXThanTheDevice) {
  EXPECT_THAT(fold_grid(7, 1, 7), ElementsAre(7, 1, 1));
  EXPECT_THAT(fold_grid(9, 1, 7), ElementsAre(5, 2, 1));
  EXPECT_THAT(fold_grid(100, 1, 7), ElementsAre(7, 15, 1)) << "what the limit leaves is had along y";
}

TEST(FoldGridTest, IsTheSameOnDevicesThatTakeMore) {
  EXPECT_THAT(fold_grid(one_dimension + 1, 64, 0x7fffffffU), ElementsAre(32768, 2, 1));
}

TEST(FoldGridTest, EveryInvocationIsCoveredWithFewWorkgroupsToSpare) {
  for (const std::int64_t count :
       {one_dimension + 1, 2 * one_dimension, 3 * one_dimension + 77, std::int64_t{1} << 31}) {
    for (const std::uint32_t local : {32U, 64U, 256U, 1024U}) {
      const auto grid = fold_grid(count, local);
      const std::int64_t groups = std::int64_t{grid[0]} * grid[1];
      EXPECT_GE(groups * local, count);
      EXPECT_LT(groups - div_up(count, local), grid[1]);
      EXPECT_LE(grid[0], 65535U);
      EXPECT_LE(grid[1], 65535U);
      EXPECT_EQ(grid[2], 1U);
    }
  }
}

TEST(FoldGridTest, TwoDimensionsAreTheLimit) {
  EXPECT_THAT(fold_grid(65535LL * 65535, 1), ElementsAre(65535, 65535, 1));
  EXPECT_THAT([] { fold_grid(65535LL * 65535 + 1, 1); },
              ThrowsMessage<Error>(HasSubstr("do not fit in two dimensions of 65535")));
}

TEST(FoldGridTest, MoreInvocationsThanA32BitIndexAreRefused) {
  EXPECT_THAT([] { fold_grid((1LL << 32) + 1, 1024); }, ThrowsMessage<Error>(HasSubstr("32-bit index")));
  EXPECT_THROW(fold_grid(1LL << 62, 64), Error);
}

TEST(FoldGridTest, AnImpossibleGridIsRefused) {
  EXPECT_THROW(fold_grid(-1, 64), Error);
  EXPECT_THROW(fold_grid(1, 0), Error);
}

Dispatch binding(std::string label, std::vector<Binding> bindings) {
  return {.label = std::move(label), .bindings = std::move(bindings)};
}

TEST(AppendTest, TensorsAreMappedAndScratchComesBehindWhatIsThere) {
  Program whole{.scratch = {{.name = "ranges"}},
                .dispatches = {binding("first", {Resource::tensor(0), Resource::scratch(0)})}};
  const Program part{.scratch = {{.name = "a"}, {.name = "b"}},
                     .dispatches = {binding("pack", {Resource::tensor(1), Resource::scratch(1)}),
                                    binding("use", {sampled(Resource::scratch(0)), Resource::tensor(0)})}};
  const std::array tensors{Resource::tensor(3), Resource::scratch(0)};
  append(whole, part, tensors);
  ASSERT_EQ(whole.scratch.size(), 3U);
  EXPECT_EQ(whole.scratch[1].name, "a");
  EXPECT_EQ(whole.scratch[2].name, "b");
  ASSERT_EQ(whole.dispatches.size(), 3U);
  EXPECT_EQ(whole.dispatches[1].label, "pack");
  EXPECT_THAT(whole.dispatches[1].bindings,
              ElementsAre(Binding(Resource::scratch(0)), Binding(Resource::scratch(2))));
  EXPECT_THAT(whole.dispatches[2].bindings,
              ElementsAre(sampled(Resource::scratch(1)), Binding(Resource::tensor(3))));
}

TEST(AppendTest, AProgramMayBeAppendedToItself) {
  Program program{.scratch = {{.name = "s"}}, .dispatches = {binding("d", {Resource::scratch(0)})}};
  append(program, program, {});
  ASSERT_EQ(program.dispatches.size(), 2U);
  EXPECT_EQ(program.scratch.size(), 2U);
  EXPECT_EQ(program.dispatches[1].bindings.front(), Binding(Resource::scratch(1)));
}

TEST(AppendTest, ATensorThatIsNotGivenIsRefusedAndNothingAppended) {
  Program whole;
  const Program part{.scratch = {{.name = "a"}}, .dispatches = {binding("pack", {Resource::tensor(1)})}};
  const std::array tensors{Resource::tensor(0)};
  EXPECT_THAT(
      [&] { append(whole, part, tensors); },
      ThrowsMessage<std::logic_error>(HasSubstr("its dispatch 'pack' binds tensor 1, but 1 are given")));
  EXPECT_TRUE(whole.scratch.empty() && whole.dispatches.empty());
}

TEST(PushConstantsTest, WordsHoldTheBitsOfTheScalarsInOrder) {
  PushConstants push;
  push.add(std::int64_t{-1}).add(1.0F).add(std::int64_t{7});
  EXPECT_THAT(push.words(), ElementsAre(0xffffffffU, 0x3f800000U, 7U));
}

}  // namespace
}  // namespace assay
