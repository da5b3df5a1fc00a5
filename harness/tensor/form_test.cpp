#include "harness/tensor/form.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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

const std::vector<Layout> each_layout = [] {
  std::vector<Layout> layouts;
  for (const LayoutInfo& info : all_layouts()) layouts.push_back(info.layout);
  return layouts;
}();
constexpr DType device_dtypes[] = {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8};

Physical buffer(Layout layout, const Shape& shape, DType dtype = DType::I8) {
  return {{Storage::Buffer, layout}, dtype, shape};
}

/// Returns the offset of a buffer's element by the definition of the layout.
std::int64_t defined_offset(Layout layout, const Dims& d, std::int64_t n, std::int64_t c, std::int64_t h,
                            std::int64_t w) {
  const std::int64_t C4 = div_up(d.c, 4), H4 = div_up(d.h, 4), W4 = div_up(d.w, 4);
  switch (layout) {
    case Layout::WP:
      return ((n * d.c + c) * d.h + h) * d.w + w;
    case Layout::HP:
      return ((n * d.c + c) * d.w + w) * d.h + h;
    case Layout::CP:
      return ((n * d.h + h) * d.w + w) * d.c + c;
    case Layout::P4W:
      return (((n * d.c + c) * d.h + h) * W4 + w / 4) * 4 + w % 4;
    case Layout::P4C:
      return (((n * d.h + h) * d.w + w) * C4 + c / 4) * 4 + c % 4;
    case Layout::P4C1W:
      return (((n * d.h + h) * C4 + c / 4) * d.w + w) * 4 + c % 4;
    case Layout::P4W4C:
      return ((((n * d.h + h) * W4 + w / 4) * C4 + c / 4) * 4 + w % 4) * 4 + c % 4;
    case Layout::P4H4W:
      return ((((n * d.c + c) * H4 + h / 4) * W4 + w / 4) * 4 + h % 4) * 4 + w % 4;
  }
  return -1;
}

/// Returns the offset of a texture's element: texel, then lane.
std::int64_t texel_offset(const Physical& physical, std::int64_t n, std::int64_t c, std::int64_t h,
                          std::int64_t w) {
  const auto [ex, ey, ez] = physical.extent();
  const Dims& d = physical.dims();
  std::int64_t x = w, y = h, z = n * d.c + c, lane = 0;
  if (physical.form().layout == Layout::WP) {
    x = w / 4;
    lane = w % 4;
  } else if (physical.form().layout == Layout::HP) {
    y = h / 4;
    lane = h % 4;
  } else {
    z = n * div_up(d.c, 4) + c / 4;
    lane = c % 4;
  }
  EXPECT_LT(x, ex);
  EXPECT_LT(y, ey);
  EXPECT_LT(z, ez);
  return ((z * ey + y) * ex + x) * 4 + lane;
}

template <class Body>
void for_each_element(const Dims& d, const Body& body) {
  for (std::int64_t n = 0; n < d.n; ++n) {
    for (std::int64_t c = 0; c < d.c; ++c) {
      for (std::int64_t h = 0; h < d.h; ++h) {
        for (std::int64_t w = 0; w < d.w; ++w) body(n, c, h, w);
      }
    }
  }
}

/// Counts whether row-major order and memory order are equal, with nothing in between.
bool counted_contiguous(const Physical& physical) {
  std::int64_t next = 0;
  bool same = true;
  for_each_element(physical.dims(), [&](auto n, auto c, auto h, auto w) {
    same = same && physical.offset(n, c, h, w) == next++;
  });
  return same && next == physical.elements();
}

const std::vector<Shape> shapes{{1},           {4},          {7},          {8, 6},       {1, 4},
                                {4, 4},        {5, 1, 1},    {8, 1, 1},    {3, 8, 4},    {2, 3, 5, 6},
                                {2, 4, 8, 1},  {2, 4, 1, 8}, {1, 5, 4, 4}, {3, 1, 4, 8}, {2, 8, 1, 1},
                                {2, 17, 3, 3}, {1, 1, 8, 4}, {2, 2, 1, 4}};

TEST(FormTest, EveryFormParsesBackFromItsName) {
  for (const Layout layout : each_layout) {
    const Form form{Storage::Buffer, layout};
    EXPECT_EQ(parse_form(to_string(form)), form);
  }
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {
      const Form form{storage, layout};
      EXPECT_EQ(parse_form(to_string(form)), form);
    }
  }
  EXPECT_EQ(to_string(Form{Storage::Buffer, Layout::P4W4C}), "buffer/4W4C");
}

TEST(FormTest, TextureIsShortForTexture3D) {
  EXPECT_EQ(parse_form("texture/CP"), (Form{Storage::Texture3D, Layout::CP}));
}

TEST(FormTest, TextThatNamesNoFormIsRefused) {
  for (const char* text : {"", "/", "buffer", "buffer/", "buffer/4X", "4W4C", "image/WP", "buffer/WP/",
                           "Buffer/WP", "texture3d/4W4C", "texture2d/4C"}) {
    EXPECT_EQ(parse_form(text), std::nullopt) << text;
  }
}

TEST(FormTest, AllFormsAreEveryLayoutInABufferAndThoseOfTextures) {
  std::vector<std::string> names;
  for (const Form form : all_forms()) names.push_back(to_string(form));
  EXPECT_THAT(names, ElementsAre("buffer/WP", "buffer/HP", "buffer/CP", "buffer/4W", "buffer/4C",
                                 "buffer/4C1W", "buffer/4W4C", "buffer/4H4W", "texture3d/WP", "texture3d/HP",
                                 "texture3d/CP", "texture2d/WP", "texture2d/HP", "texture2d/CP"));
}

TEST(PhysicalTest, BufferOffsetsAreThoseOfTheDefinition) {
  for (const Layout layout : each_layout) {
    for (const Shape& shape : shapes) {
      const Physical physical = buffer(layout, shape);
      for_each_element(physical.dims(), [&](auto n, auto c, auto h, auto w) {
        ASSERT_EQ(physical.offset(n, c, h, w), defined_offset(layout, physical.dims(), n, c, h, w))
            << to_string(physical.form()) << " " << to_string(shape);
      });
    }
  }
}

TEST(PhysicalTest, TextureOffsetsAreThoseOfTheirTexels) {
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    for (const Shape& shape : shapes) {
      const Physical physical({Storage::Texture3D, layout}, DType::F16, shape);
      for_each_element(physical.dims(), [&](auto n, auto c, auto h, auto w) {
        ASSERT_EQ(physical.offset(n, c, h, w), texel_offset(physical, n, c, h, w)) << to_string(shape);
      });
      const auto [x, y, z] = physical.extent();
      EXPECT_EQ(physical.elements(), std::int64_t{4} * x * y * z);
    }
  }
}

TEST(PhysicalTest, OffsetsAreDistinctAndInsideTheDataRegion) {
  for (const Layout layout : each_layout) {
    for (const Shape& shape : shapes) {
      const Physical physical = buffer(layout, shape);
      std::set<std::int64_t> seen;
      for_each_element(physical.dims(),
                       [&](auto n, auto c, auto h, auto w) { seen.insert(physical.offset(n, c, h, w)); });
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), numel(shape));
      EXPECT_GE(*seen.begin(), 0);
      EXPECT_LT(*seen.rbegin(), physical.elements());
    }
  }
}

TEST(PhysicalTest, ElementsCountPaddedBlocks) {
  const Shape shape{2, 5, 3, 6};
  EXPECT_EQ(buffer(Layout::WP, shape).elements(), 180);
  EXPECT_EQ(buffer(Layout::HP, shape).elements(), 180);
  EXPECT_EQ(buffer(Layout::CP, shape).elements(), 180);
  EXPECT_EQ(buffer(Layout::P4W, shape).elements(), 2 * 5 * 3 * 8);
  EXPECT_EQ(buffer(Layout::P4C, shape).elements(), 2 * 3 * 6 * 8);
  EXPECT_EQ(buffer(Layout::P4C1W, shape).elements(), 2 * 3 * 8 * 6);
  EXPECT_EQ(buffer(Layout::P4W4C, shape).elements(), 2 * 3 * 8 * 8);
  EXPECT_EQ(buffer(Layout::P4H4W, shape).elements(), 2 * 5 * 4 * 8);
}

TEST(PhysicalTest, BytesAreWholeWords) {
  EXPECT_EQ(buffer(Layout::WP, {5}, DType::I8).bytes(), 8);
  EXPECT_EQ(buffer(Layout::WP, {3}, DType::F16).bytes(), 8);
  EXPECT_EQ(buffer(Layout::WP, {3}, DType::F32).bytes(), 12);
  EXPECT_EQ(buffer(Layout::P4C, {5, 1, 1}, DType::I8).bytes(), 8);
}

TEST(PhysicalTest, TextureExtentsAreTexelsAlongThePackedDim) {
  const Shape shape{2, 5, 3, 6};
  const auto extent = [&](Layout layout) {
    return Physical({Storage::Texture3D, layout}, DType::F32, shape).extent();
  };
  EXPECT_THAT(extent(Layout::WP), ElementsAre(2, 3, 10));
  EXPECT_THAT(extent(Layout::HP), ElementsAre(6, 1, 10));
  EXPECT_THAT(extent(Layout::CP), ElementsAre(6, 3, 4));
}

TEST(PhysicalTest, TextureOffsetsByHand) {
  const Physical cp({Storage::Texture3D, Layout::CP}, DType::F32, {2, 5, 3, 6});
  // n=1 c=4: slice 1*2+1 = 3, lane 0; h=2 w=5: texel 17 of 18 in the slice.
  EXPECT_EQ(cp.offset(1, 4, 2, 5), (3 * 18 + 17) * 4);
  const Physical hp({Storage::Texture3D, Layout::HP}, DType::F32, {1, 1, 6, 3});
  // h=5: second row of texels, lane 1; w=2: third texel of 3.
  EXPECT_EQ(hp.offset(0, 0, 5, 2), (3 + 2) * 4 + 1);
}

TEST(PhysicalTest, ABufferHasNoExtent) {
  EXPECT_THAT(buffer(Layout::WP, {4}).extent(), ElementsAre(0, 0, 0));
}

TEST(PhysicalTest, ContiguousIsWhatCountingSays) {
  int contiguous = 0;
  for (const Layout layout : each_layout) {
    for (const Shape& shape : shapes) {
      const Physical physical = buffer(layout, shape);
      EXPECT_EQ(physical.is_contiguous(), counted_contiguous(physical))
          << to_string(physical.form()) << " " << to_string(shape);
      contiguous += physical.is_contiguous() ? 1 : 0;
      if (is_int8x4(layout)) continue;
      const Physical texture({Storage::Texture3D, layout}, DType::F32, shape);
      EXPECT_EQ(texture.is_contiguous(), counted_contiguous(texture))
          << to_string(texture.form()) << " " << to_string(shape);
    }
  }
  EXPECT_GT(contiguous, static_cast<int>(shapes.size()));  // more than WP alone has
}

TEST(PhysicalTest, EveryDeviceDTypeGoesIntoTheFloatLayouts) {
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    for (const DType dtype : device_dtypes) {
      EXPECT_NO_THROW(buffer(layout, {4}, dtype));
      EXPECT_NO_THROW(Physical({Storage::Texture3D, layout}, dtype, {4}));
    }
  }
}

TEST(PhysicalTest, OnlyBytesGoIntoTheInt8x4Layouts) {
  EXPECT_NO_THROW(buffer(Layout::P4C, {4}, DType::U8));
  EXPECT_THAT([] { buffer(Layout::P4C, {4}, DType::F32); },
              ThrowsMessage<Error>(HasSubstr("form buffer/4C cannot hold dtype f32")));
  EXPECT_THROW(buffer(Layout::P4H4W, {4}, DType::I16), Error);
}

TEST(PhysicalTest, HostDTypesHaveNoForm) {
  EXPECT_THAT([] { buffer(Layout::WP, {4}, DType::F64); }, ThrowsMessage<Error>(HasSubstr("host only")));
  EXPECT_THROW(buffer(Layout::WP, {4}, DType::I64), Error);
}

TEST(PhysicalTest, TexturesHoldNoInt8x4Layout) {
  EXPECT_THAT(
      [] {
        Physical({Storage::Texture3D, Layout::P4C}, DType::I8, {4});
      },
      ThrowsMessage<Error>(HasSubstr("buffers only")));
}

TEST(PhysicalTest, A2DTextureHoldsOneSlice) {
  const Physical matrix({Storage::Texture2D, Layout::WP}, DType::F32, {5, 6});
  EXPECT_THAT(matrix.extent(), ElementsAre(2, 5, 1));
  EXPECT_EQ(matrix.offset(0, 0, 3, 5), (3 * 2 + 1) * 4 + 1);
  EXPECT_THAT(
      [] {
        Physical({Storage::Texture2D, Layout::WP}, DType::F32, {3, 5, 6});
      },
      ThrowsMessage<Error>(HasSubstr("needs 3 slices")));
}

TEST(PhysicalTest, AnImpossibleShapeIsRefused) {
  EXPECT_THROW(buffer(Layout::WP, {4, 0}), Error);
  EXPECT_THROW(buffer(Layout::WP, {1, 1, 1, 1, 4}), Error);
  EXPECT_THAT(
      [] {
        Physical({Storage::Texture3D, Layout::CP}, DType::F32, {1LL << 33});
      },
      ThrowsMessage<Error>(HasSubstr("texels in one dimension")));
}

TEST(PhysicalTest, TheLargestShapeDoesNotOverflow) {
  const Physical physical = buffer(Layout::P4W4C, {1LL << 20, 1, 1LL << 20, 1});
  EXPECT_EQ(physical.elements(), 1LL << 44);
}

TEST(FormTest, TexelsAreCalledWhatGlslCallsThem) {
  EXPECT_EQ(texel_name(DType::F32), "rgba32f");
  EXPECT_EQ(texel_name(DType::F16), "rgba16f");
  EXPECT_EQ(texel_name(DType::I32), "rgba32i");
  EXPECT_EQ(texel_name(DType::I16), "rgba16i");
  EXPECT_EQ(texel_name(DType::I8), "rgba8i");
  EXPECT_EQ(texel_name(DType::U8), "rgba8ui");
  EXPECT_THROW(texel_name(DType::F64), std::out_of_range);
}

TEST(FormTest, WhatIsNoBufferIsATexture) {
  EXPECT_FALSE(is_texture({Storage::Buffer, Layout::CP}));
  EXPECT_TRUE(is_texture({Storage::Texture3D, Layout::CP}));
  EXPECT_TRUE(is_texture({Storage::Texture2D, Layout::WP}));
}

}  // namespace

}  // namespace assay
