#include "harness/tensor/layout.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace assay {
namespace {

constexpr std::size_t layout_count = static_cast<std::size_t>(Layout::P4H4W) + 1;

TEST(LayoutTest, TheTableHasEveryLayoutAtItsPlace) {
  ASSERT_EQ(all_layouts().size(), layout_count);
  for (std::size_t i = 0; i < layout_count; ++i) {
    EXPECT_EQ(all_layouts()[i].layout, static_cast<Layout>(i));
    EXPECT_EQ(&info_of(static_cast<Layout>(i)), &all_layouts()[i]);
  }
}

TEST(LayoutTest, EachLayoutHasANameOfItsOwnThatParsesBack) {
  std::set<std::string_view> names;
  for (const LayoutInfo& info : all_layouts()) {
    names.insert(info.name);
    EXPECT_EQ(parse_layout(info.name), info.layout);
  }
  EXPECT_EQ(names.size(), layout_count);
  EXPECT_EQ(parse_layout("4w"), std::nullopt);
  EXPECT_EQ(name_of(Layout::P4C1W), "4C1W");
}

TEST(LayoutTest, EveryOrderHasEachDimOnceAndItsBlocksBeforeItsLanes) {
  for (const LayoutInfo& info : all_layouts()) {
    for (const std::string_view order : {info.buffer_order, info.texture_order}) {
      if (order.empty()) continue;
      for (std::size_t dim = 0; dim < 4; ++dim) {
        const std::size_t lanes = order.find("nchw"[dim]), blocks = order.find(LayoutInfo::blocks_of(dim));
        EXPECT_NE(lanes, order.npos) << info.name << " " << dim;
        EXPECT_TRUE(blocks == order.npos || blocks < lanes) << info.name << " " << dim;
      }
    }
  }
}

TEST(LayoutTest, TheInt8x4LayoutsAreTheOnesWithFourValuesInAWord) {
  for (const LayoutInfo& info : all_layouts()) {
    EXPECT_EQ(info.is_int8x4(), info.name.starts_with('4')) << info.name;
    EXPECT_EQ(info.fits_textures(), !info.is_int8x4()) << info.name;
  }
}

TEST(LayoutTest, PackedDimsAndBlocksOfWordsFollowFromTheOrder) {
  const auto packed = [](Layout layout) { return "NCHW"[info_of(layout).packed_dim()]; };
  EXPECT_EQ(packed(Layout::WP), 'W');
  EXPECT_EQ(packed(Layout::HP), 'H');
  EXPECT_EQ(packed(Layout::CP), 'C');
  EXPECT_EQ(packed(Layout::P4W), 'W');
  EXPECT_EQ(packed(Layout::P4C), 'C');
  EXPECT_EQ(packed(Layout::P4C1W), 'C');
  EXPECT_EQ(packed(Layout::P4W4C), 'C');
  EXPECT_EQ(packed(Layout::P4H4W), 'W');
  for (const LayoutInfo& info : all_layouts()) {
    const bool is_blocked = info.layout == Layout::P4W4C || info.layout == Layout::P4H4W;
    EXPECT_EQ(info.word_block_dim().has_value(), is_blocked) << info.name;
  }
  EXPECT_EQ(info_of(Layout::P4W4C).word_block_dim(), LayoutInfo::dim_of('w'));
  EXPECT_EQ(info_of(Layout::P4H4W).word_block_dim(), LayoutInfo::dim_of('h'));
}

TEST(LayoutTest, ShadersNumberLayoutsByTheirPlaceInTheTable) {
  std::ifstream shader(ASSAY_SOURCE_DIR "/shaders/common/int8x4.glslh");
  int found = 0;
  for (std::string line; std::getline(shader, line);) {
    const std::string start = "#define LAYOUT_";
    if (!line.starts_with(start)) continue;
    const std::size_t space = line.find(' ', start.size());
    const auto layout = parse_layout(line.substr(start.size(), space - start.size()));
    ASSERT_TRUE(layout) << line;
    EXPECT_EQ(line.substr(space + 1), std::to_string(static_cast<int>(*layout)) + "u") << line;
    ++found;
  }
  EXPECT_EQ(found, 2) << "4C1W and 4W4C, which kernels are specialized for";
}

}  // namespace
}  // namespace assay
