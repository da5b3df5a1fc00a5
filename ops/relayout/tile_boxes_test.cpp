#include "ops/relayout/tile_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace assay::ops {
namespace {

using testing::ElementsAre;

TEST(ChooseBox, GivesBothWishesToTheFirstSubgroupWhereTheyFit) {
  // 4 x 1 x 8: eight words of channels to write, four of width to read.
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 32, 32), ElementsAre(4, 1, 8));
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 64, 64), ElementsAre(4, 1, 16));
}

TEST(ChooseBox, LetsReadsGiveWayWhereBothWishesDoNotFit) {
  EXPECT_THAT(choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 16, 16), ElementsAre(2, 1, 8));
  EXPECT_THAT(choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 8, 8), ElementsAre(1, 1, 8));
}

TEST(ChooseBox, GrowsBeyondTheSubgroupAlongChannelsFirst) {
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 32, 256), ElementsAre(4, 1, 64));
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 8}, 32, 256), ElementsAre(4, 8, 8));
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 8}}, Tiles{64, 1, 8}, 32, 256), ElementsAre(32, 1, 8));
}

TEST(ChooseBox, BecomesASquareOfBothAxesWhereTilesAreTurned) {
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 4, 1}, true}, Tiles{64, 64, 64}, 32, 256), ElementsAre(16, 16, 1));
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 1, 4}, true}, Tiles{64, 64, 64}, 32, 128), ElementsAre(8, 1, 16));
  EXPECT_THAT(choose_box({{4, 1, 1}, {1, 4, 1}, true}, Tiles{64, 4, 64}, 32, 256), ElementsAre(8, 4, 8));
}

TEST(ChooseBox, IsTheMeasuredOneAsFarAsTheTensorAndTheWorkgroupGo) {
  const Wishes wishes{{1, 4, 1}, {4, 2, 1}, false, Box{2, 32, 4}};
  EXPECT_THAT(choose_box(wishes, Tiles{64, 64, 64}, 32, 256), ElementsAre(2, 32, 4));
  EXPECT_THAT(choose_box(wishes, Tiles{64, 64, 64}, 32, 64), ElementsAre(2, 8, 4));
  EXPECT_THAT(choose_box(wishes, Tiles{64, 4, 2}, 32, 256), ElementsAre(32, 4, 2));
}

TEST(ChooseBox, IsHalvedWhereFewerInvocationsAreAskedForThanTheWishesNeed) {
  EXPECT_THAT(choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 128, 1), ElementsAre(1, 1, 1));
  const Box box = choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{64, 64, 64}, 128, 7);
  EXPECT_EQ(box[0] * box[1] * box[2], 4U);
}

TEST(ChooseBox, IsNoLongerThanATinyTensorNeeds) {
  EXPECT_THAT(choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{1, 1, 1}, 32, 256), ElementsAre(1, 1, 1));
  EXPECT_THAT(choose_box({{8, 1, 1}, {1, 1, 8}}, Tiles{3, 1, 1}, 32, 256), ElementsAre(4, 1, 1));
  EXPECT_THAT(choose_box({{8, 1, 1}, {8, 1, 1}}, Tiles{1, 5, 1}, 32, 256), ElementsAre(1, 8, 1));
}

TEST(ChooseBox, KeepsToPowersOfTwoAndToWhatWasAskedWhateverTheTensor) {
  std::mt19937 random(5);
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  const auto wish = [&] {
    Box box{1, 1, 1};
    box[pick(0, 2)] <<= pick(0, 3);
    box[pick(0, 2)] <<= pick(0, 1);
    return box;
  };
  for (int round = 0; round < 5000; ++round) {
    const Tiles tiles{pick(1, 100), pick(1, 100), pick(1, 100)};
    const std::uint32_t subgroup = 4U << pick(0, 5);
    const std::uint32_t invocations = pick(1, 1024);
    const Box box =
        choose_box({wish(), wish(), pick(0, 1) != 0, pick(0, 3) == 0 ? std::optional(wish()) : std::nullopt},
                   tiles, subgroup, invocations);
    std::uint32_t total = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(std::has_single_bit(box[i]));
      ASSERT_LT(box[i], 2 * tiles[i]);
      total *= box[i];
    }
    ASSERT_LE(total, invocations);
    const bool covers = box[0] >= tiles[0] && box[1] >= tiles[1] && box[2] >= tiles[2];
    ASSERT_TRUE(covers || total * 2 > invocations) << "there are invocations and tiles left";
  }
}

Box float_wish(Storage storage, Layout layout, std::optional<Axis> stack) {
  return wish_of_floats({{storage, layout}, DType::F32, {2, 8, 8, 8}}, stack);
}

TEST(WishOfFloats, LiesAlongThePackedAxisOfABuffer) {
  EXPECT_THAT(float_wish(Storage::Buffer, Layout::WP, Axis::C), ElementsAre(4, 1, 1));
  EXPECT_THAT(float_wish(Storage::Buffer, Layout::HP, Axis::W), ElementsAre(1, 4, 1));
  EXPECT_THAT(float_wish(Storage::Buffer, Layout::CP, std::nullopt), ElementsAre(1, 1, 4));
}

TEST(WishOfFloats, IsAPatchOfTexelsInATextureWhateverIsPacked) {
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    EXPECT_THAT(float_wish(Storage::Texture3D, layout, std::nullopt), ElementsAre(4, 2, 1));
  }
  // Where tiles are four texels long along an axis, a box needs fewer of them along it.
  EXPECT_THAT(float_wish(Storage::Texture3D, Layout::CP, Axis::W), ElementsAre(2, 2, 1));
  EXPECT_THAT(float_wish(Storage::Texture3D, Layout::CP, Axis::H), ElementsAre(4, 1, 1));
}

TEST(BoxGrid, CountsTheBoxesOfAllBatches) {
  const Params params;
  DeviceInfo device;
  device.subgroup_size = 32;
  device.max_workgroup_size = {128, 128, 64};
  Dispatch dispatch;
  const std::map<std::string, std::int64_t> tune{{"local_size", 32}};
  set_box_grid(dispatch, {params, {}, {}, device, tune}, {{4, 1, 1}, {1, 1, 8}}, Tiles{9, 3, 17}, 5,
               5 * 9 * 3 * 17);
  EXPECT_THAT(dispatch.local_size, ElementsAre(4, 1, 8));
  const std::vector<std::uint32_t>& words = dispatch.push.words();
  ASSERT_EQ(words.size(), 10U);
  EXPECT_EQ(words[0], 5U * 3 * 3 * 3);  // boxes
  EXPECT_EQ(words[1], 3U);              // columns
  EXPECT_EQ(words[2], 3U);              // blocks of channels
  EXPECT_EQ(words[3], 3U);              // rows
  EXPECT_GE(dispatch.workgroups[0] * dispatch.workgroups[1], words[0]);
}

}  // namespace
}  // namespace assay::ops
