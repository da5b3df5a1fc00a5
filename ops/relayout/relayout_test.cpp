#include "ops/relayout/relayout.h"

#include "ops/relayout/reorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace assay::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

Form buffer(Layout layout) {
  return {Storage::Buffer, layout};
}

/// A dispatch between two tensors of one shape on some device.
class Move {
 public:
  Move(const Shape& shape, Form x, DType x_type, Form y, DType y_type)
      : x_{Resource::tensor(0), {x, x_type, shape}}, y_{Resource::tensor(1), {y, y_type, shape}} {
    device_.subgroup_size = 32;
    device_.max_workgroup_size = {1024, 1024, 64};
    device_.max_workgroup_invocations = 1024;
  }
  static Move bytes(const Shape& shape, Layout x, Layout y) {
    return {shape, buffer(x), DType::I8, buffer(y), DType::I8};
  }

  Dispatch relayout() const { return relayout_dispatch(context(), "move", x_, y_); }
  Dispatch move() const { return move_dispatch(context(), "move", x_, y_, {}); }
  std::optional<std::string> invalid_reason() const {
    return relayout_invalid_reason(x_.physical, y_.physical);
  }

  DeviceInfo& device() { return device_; }
  std::map<std::string, std::int64_t>& tune() { return tune_; }

 private:
  BuildContext context() const { return {params_, {}, {}, device_, tune_}; }

  TensorAt x_, y_;
  Params params_;
  DeviceInfo device_;
  std::map<std::string, std::int64_t> tune_;
};

/// Whether x and y of a clone are moved by vectors: "10" where x is and y is not.
std::string whole(const Shape& shape, Layout x, Layout y) {
  const Dispatch dispatch = Move::bytes(shape, x, y).relayout();
  return test::define_or_none(dispatch, "X_WHOLE") + test::define_or_none(dispatch, "Y_WHOLE");
}

TEST(RelayoutDispatch, NeverExceedsTheSidesOfADevicesWorkgroupsNorTheTunedTotal) {
  for (const Layout x : {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W}) {
    for (const Layout y : {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W}) {
      for (const std::int64_t local_size : {0, 1, 7, 100, 1024}) {
        Move move = Move::bytes({2, 600, 600, 600}, x, y);
        move.device().max_workgroup_size = {48, 17, 5};
        if (local_size > 0) move.tune()["local_size"] = local_size;
        const Dispatch dispatch = move.relayout();
        const auto& local = dispatch.local_size;
        EXPECT_LE(local[0] * local[1] * local[2], local_size > 0 ? local_size : 256);
        EXPECT_LE(local[0], 32U);
        EXPECT_LE(local[1], 16U);
        EXPECT_LE(local[2], 4U);
      }
    }
  }
}

TEST(RelayoutDispatch, FoldsAGridOfMoreWorkgroupsThanADimensionCounts) {
  Move move = Move::bytes({70000, 4, 4, 4}, Layout::P4W4C, Layout::P4C1W);
  const Dispatch dispatch = move.relayout();
  EXPECT_LE(dispatch.workgroups[0], 65535U);
  EXPECT_EQ(dispatch.workgroups[2], 1U);
  EXPECT_GE(std::int64_t{dispatch.workgroups[0]} * dispatch.workgroups[1],
            70000 * 4 / dispatch.local_size[1]);
}

TEST(RelayoutDispatch, TakesVectorsWhereTheFourWordsOfATileLieTogether) {
  using enum Layout;
  // 4W4C pads the width, 4C1W and 4C do not; words of 4W are never neighbours along another axis.
  EXPECT_EQ(whole({1, 8, 4, 8}, P4W4C, P4C1W), "11");
  EXPECT_EQ(whole({1, 8, 4, 7}, P4W4C, P4C1W), "10");
  EXPECT_EQ(whole({1, 8, 4, 7}, P4C1W, P4W4C), "01");
  EXPECT_EQ(whole({1, 8, 4, 8}, P4C, P4C1W), "01");
  EXPECT_EQ(whole({1, 8, 4, 8}, P4W, P4W4C), "01");
  EXPECT_EQ(whole({1, 8, 4, 8}, P4W4C, P4W), "10");
  // Between layouts packed along the width, tiles are stacked along the height, which 4H4W pads.
  EXPECT_EQ(whole({1, 8, 3, 8}, P4H4W, P4H4W), "11");
  EXPECT_EQ(whole({1, 8, 3, 8}, P4H4W, P4W), "10");
  EXPECT_EQ(whole({1, 8, 4, 8}, P4H4W, P4C1W), "01");
}

TEST(RelayoutDispatch, TakesVectorsOfFloatsWhereRowsAreMultiplesOfFour) {
  const auto y_whole = [](const Shape& shape, Layout layout) {
    return test::define_or_none(
        Move(shape, buffer(Layout::P4W4C), DType::I8, buffer(layout), DType::F32).relayout(), "Y_WHOLE");
  };
  EXPECT_EQ(y_whole({3, 5, 8}, Layout::WP), "1");
  EXPECT_EQ(y_whole({3, 8, 5}, Layout::WP), "0");
  EXPECT_EQ(y_whole({3, 8, 5}, Layout::HP), "1");
  EXPECT_EQ(y_whole({8, 3, 5}, Layout::CP), "1");
  EXPECT_EQ(y_whole({7, 4, 4}, Layout::CP), "0");
}

TEST(RelayoutExcludes, HalvesWhoseRowsShareWordsButOnlyWhereTheyAreWritten) {
  const Form words = buffer(Layout::P4C);
  const Move written({3, 5, 7}, words, DType::I8, buffer(Layout::WP), DType::F16);
  EXPECT_THAT(written.invalid_reason().value_or(""), HasSubstr("two rows share a word"));
  EXPECT_THROW((void)written.relayout(), std::logic_error);
  EXPECT_EQ(written.move().shader, "gather.comp");
  EXPECT_EQ(Move({3, 5, 8}, words, DType::I8, buffer(Layout::WP), DType::F16).invalid_reason(), std::nullopt);
  EXPECT_EQ(Move({3, 5, 7}, buffer(Layout::WP), DType::F16, words, DType::I8).invalid_reason(), std::nullopt);
  EXPECT_EQ(Move({3, 5, 7}, words, DType::I8, {Storage::Texture3D, Layout::WP}, DType::F16).invalid_reason(),
            std::nullopt);
  EXPECT_EQ(Move({3, 5, 7}, words, DType::I8, buffer(Layout::WP), DType::F32).move().shader, "relayout.comp");
}

TEST(RelayoutExcludes, TensorsThatCannotBeCountedWithTheirNumber) {
  const auto reason = [](const Shape& shape) {
    return Move::bytes(shape, Layout::P4C, Layout::P4W).invalid_reason().value_or("");
  };
  EXPECT_EQ(reason({1, 4, 1 << 14, 1 << 14}), "");
  EXPECT_THAT(reason({2, 4, 1 << 14, 1 << 14}), HasSubstr("2147483648 elements as buffer/4C"));
  EXPECT_THAT(reason({1, 4, 1 << 29, 1}), HasSubstr("buffer/4C"));
  EXPECT_THAT(reason({1, 4, (1 << 29) - 1, 1}), HasSubstr("buffer/4W"));  // padded to four
}

}  // namespace

}  // namespace assay::ops
