#include "ops/linear/gathering.h"

#include "tests/support/on_device.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace assay::ops {
namespace {

using namespace test;
using references::Convolution;

Convolution convolution(std::int64_t c, std::int64_t oc, std::int64_t groups) {
  Convolution conv;
  conv.c = c;
  conv.oc = oc;
  conv.groups = groups;
  conv.h = 5;
  conv.w = 7;
  return conv;
}

Gathering gathering_of(std::int64_t c, std::int64_t oc, std::int64_t groups) {
  return Gathering(convolution(c, oc, groups));
}

/// The number of groups, the channels and outputs of one, and the words of a tap.
std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> sizes(const Gathering& gathering) {
  return {gathering.groups, gathering.channels_of_group, gathering.outputs_of_group, gathering.tap_words};
}

using ImageSizes = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Physical images(Layout layout, std::int64_t channels) {
  return {{Storage::Buffer, layout}, DType::I8, {2, channels, 5, 7}};
}

TEST(Gathering, PutsGroupsTogetherUntilTheyHaveWholeWordsOfOutputs) {
  EXPECT_EQ(sizes(gathering_of(12, 24, 4)), (ImageSizes{2, 6, 12, 2}));
  EXPECT_EQ(sizes(gathering_of(32, 24, 2)), (ImageSizes{2, 16, 12, 4}));
  EXPECT_EQ(sizes(gathering_of(12, 12, 12)), (ImageSizes{3, 4, 4, 1}));
}

TEST(Gathering, LeavesFewerToTheLastGroup) {
  const Gathering gathering = gathering_of(18, 6, 3);
  EXPECT_EQ(sizes(gathering), (ImageSizes{2, 12, 4, 3}));
  EXPECT_EQ(gathering.first_channel(1), 12);
  EXPECT_EQ(sizes(gathering_of(11, 11, 11)), (ImageSizes{3, 4, 4, 1}));
}

TEST(Gathering, IsOneGroupWhereNoFewerHaveWholeWords) {
  EXPECT_EQ(sizes(gathering_of(10, 10, 2)), (ImageSizes{1, 10, 10, 3}));
  EXPECT_EQ(sizes(gathering_of(6, 9, 1)), (ImageSizes{1, 6, 9, 2}));
}

TEST(Gathering, TakesTheWordsThatGroupsShareForEach) {
  const Gathering gathering = gathering_of(9, 24, 3);  // channels 0 to 2, 3 to 5, 6 to 8
  EXPECT_EQ(sizes(gathering), (ImageSizes{3, 3, 8, 2}));
  EXPECT_EQ(gathering.first_channel(0), 0);
  EXPECT_EQ(gathering.first_channel(1), 0);
  EXPECT_EQ(gathering.first_channel(2), 4);
}

TEST(Gathering, HoldsTheChannelsOfEveryOutput) {
  Draw draw(5);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t groups = draw.pick(1, 13);
    const Convolution conv = convolution(groups * draw.pick(1, 11), groups * draw.pick(1, 11), groups);
    const Gathering gathering(conv);
    SCOPED_TRACE(testing::Message() << conv.c << " channels to " << conv.oc << " in " << groups);
    EXPECT_GE(gathering.groups * gathering.outputs_of_group, conv.oc);
    EXPECT_LT((gathering.groups - 1) * gathering.outputs_of_group, conv.oc);
    EXPECT_TRUE(gathering.groups == 1 || gathering.outputs_of_group % 4 == 0);
    for (std::int64_t o = 0; o < conv.oc; ++o) {
      const std::int64_t first = gathering.first_channel(o / gathering.outputs_of_group);
      const std::int64_t first_read = o / conv.outputs_of_group() * conv.channels_of_group();
      EXPECT_EQ(first % 4, 0);
      EXPECT_LE(first, first_read);
      EXPECT_GE(first + 4 * gathering.tap_words, first_read + conv.channels_of_group());
    }
  }
}

TEST(Gathering, HasItsWordsForEachTap) {
  Convolution conv = convolution(9, 24, 3);
  conv.kernel = {2, 5};
  EXPECT_EQ(Gathering(conv).words(), 20);
  EXPECT_EQ(Gathering(conv).depth(), 80);
}

TEST(Gathering, NoTileHasOutputsOfTwoGroups) {
  const Gathering two = gathering_of(32, 24, 2);  // groups of 12 outputs
  EXPECT_EQ(two.tiles(4), 6);
  EXPECT_EQ(two.tiles(8), 4);
  EXPECT_EQ(two.tiles(16), 2);
  EXPECT_EQ(gathering_of(6, 9, 1).tiles(4), 3);
}

TEST(Gathering, HasUnitsWhereGroupsAndPixelsAreWholeOnes) {
  const auto has_units = [](std::int64_t channels, std::int64_t groups, Layout layout) {
    return gathering_of(channels, 8 * groups, groups).has_units(images(layout, channels));
  };
  EXPECT_TRUE(has_units(16, 1, Layout::P4C));
  EXPECT_TRUE(has_units(61, 1, Layout::P4C)) << "words are whole, whatever is in their last lanes";
  EXPECT_FALSE(has_units(20, 1, Layout::P4C));
  EXPECT_FALSE(has_units(16, 1, Layout::P4C1W));
  EXPECT_FALSE(has_units(16, 1, Layout::P4W4C));
  EXPECT_TRUE(has_units(48, 3, Layout::P4C));
  EXPECT_FALSE(has_units(32, 4, Layout::P4C)) << "8 channels of a group";
  EXPECT_FALSE(has_units(48, 2, Layout::P4C)) << "the second begins inside a unit";
}

TEST(Gathering, OfColumnsReadsOnePixelForEach) {
  Convolution conv = convolution(9, 24, 3);
  conv.n = 2;
  conv.kernel = {3, 3};
  conv.stride = {2, 1};
  conv.padding = conv.padding_end = {1, 0};
  const Gathering columns = Gathering::of_columns(Gathering(conv), 80);
  EXPECT_EQ(columns.conv.x_shape(), (Shape{2, 240, 3, 5}));
  EXPECT_EQ(columns.conv.y_shape(), conv.y_shape());
  EXPECT_EQ(columns.conv.taps(), 1);
  EXPECT_EQ(sizes(columns), (ImageSizes{3, 80, 8, 20}));
  EXPECT_EQ(columns.first_channel(2), 160);
}

TEST(Gathering, TellsKernelsTheStridesOfTheLayout) {
  const Gathering gathering = gathering_of(18, 8, 1);  // 5 words of channels, images of 5 x 7
  const auto strides = [&](Layout layout) {
    Dispatch dispatch;
    add_gathering(dispatch, gathering, images(layout, 18), false);
    std::vector<std::uint32_t> all;
    for (const char* name : {"x_of_image", "x_of_row", "x_of_four_columns", "x_of_column", "x_of_word"}) {
      all.push_back(constant_of(dispatch, name));
    }
    return all;
  };
  EXPECT_EQ(strides(Layout::P4C), (std::vector<std::uint32_t>{175, 35, 20, 5, 1}));
  EXPECT_EQ(strides(Layout::P4C1W), (std::vector<std::uint32_t>{175, 35, 4, 1, 7}));
  EXPECT_EQ(strides(Layout::P4W4C), (std::vector<std::uint32_t>{200, 40, 20, 1, 4}));
}

TEST(Gathering, TellsKernelsOfGroupsWhereThereAreSeveral) {
  Dispatch one, two;
  add_channel_groups(one, gathering_of(6, 9, 1), 8);
  EXPECT_EQ(define_or_none(one, "CHANNEL_GROUPS"), "0");
  EXPECT_TRUE(one.constants.empty());
  add_channel_groups(two, gathering_of(32, 24, 2), 8);
  EXPECT_EQ(define_or_none(two, "CHANNEL_GROUPS"), "1");
  EXPECT_EQ(constant_of(two, "quads_of_group"), 3U);
  EXPECT_EQ(constant_of(two, "tiles_of_group"), 2U);
}

TEST(Gathering, ImagesOfYAreRowsWhereChannelsFollowEachOther) {
  const auto layout_of = [](Form form, DType dtype) {
    return std::string(y_layout_of_images({form, dtype, {2, 18, 5, 7}}));
  };
  EXPECT_EQ(layout_of({Storage::Buffer, Layout::P4C}, DType::I8), "Y_ROWS");
  EXPECT_EQ(layout_of({Storage::Buffer, Layout::CP}, DType::F32), "Y_ROWS");
  EXPECT_EQ(layout_of({Storage::Buffer, Layout::P4C1W}, DType::I8), "Y_PIXELS");
  EXPECT_EQ(layout_of({Storage::Buffer, Layout::P4W4C}, DType::I8), "Y_PIXELS");
  EXPECT_EQ(layout_of({Storage::Texture3D, Layout::CP}, DType::F16), "Y_PIXELS_TEXTURE");
}

}  // namespace
}  // namespace assay::ops
