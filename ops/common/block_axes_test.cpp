#include "ops/common/block_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace assay::ops {
namespace {

Params of_shape(std::vector<std::int64_t> shape) {
  Params params;
  params.set("shape", std::move(shape));
  return params;
}

TEST(TokensOfShape, AreItsLinesAlongTheLastDim) {
  EXPECT_EQ(tokens_of_shape(of_shape({2, 3, 4096})), 6);
  EXPECT_EQ(tokens_of_shape(of_shape({1, 4096})), 1);
  EXPECT_EQ(tokens_of_shape(of_shape({4096})), 1) << "one line";
}

// The block id of the element at `place` in memory, computed from the axes as the kernels do it.
std::int64_t block_at(const std::vector<BlockAxis>& axes, std::int64_t place) {
  std::int64_t block = 0;
  for (const BlockAxis& axis : axes) {
    block += place % axis.size / axis.block * axis.stride;
    place /= axis.size;
  }
  return block;
}

using references::BlockGrid;
using testing::ElementsAre;
using testing::IsEmpty;

BlockGrid grid_of(const Shape& shape, const Shape& block) {
  BlockGrid grid{shape, block, {}};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) grid.counts.push_back(div_up(shape[dim], block[dim]));
  return grid;
}

TEST(BlockAxes, PerTensorNeedsNoneInAnyLayout) {
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    EXPECT_THAT(block_axes(grid_of({2, 3, 4, 5}, {2, 3, 4, 5}), layout), IsEmpty());
  }
}

TEST(BlockAxes, PerTokenAndPerGroupNeedOneInWidthPackedOrder) {
  EXPECT_THAT(block_axes(grid_of({128, 2, 16, 64}, {1, 1, 1, 64}), Layout::WP),
              ElementsAre(BlockAxis{262144, 64, 1}));
  EXPECT_THAT(block_axes(grid_of({16, 4096}, {1, 128}), Layout::WP), ElementsAre(BlockAxis{65536, 128, 1}));
}

TEST(BlockAxes, ChannelsOfABatchNeedTwo) {
  EXPECT_THAT(block_axes(grid_of({9, 17, 5, 5}, {9, 1, 5, 5}), Layout::WP),
              ElementsAre(BlockAxis{425, 25, 1}, BlockAxis{9, 9, 0}));
}

TEST(BlockAxes, RaggedBlocksAreNotMergedAcrossRows) {
  EXPECT_THAT(block_axes(grid_of({4, 10}, {1, 4}), Layout::WP),
              ElementsAre(BlockAxis{10, 4, 1}, BlockAxis{4, 1, 3}));
}

TEST(BlockAxes, ByDimAreInOrderNCHWAndHaveNoStrideAlongADimOfOneBlock) {
  EXPECT_THAT(axes_by_dim(grid_of({6, 5, 8}, {4, 5, 2})),
              ElementsAre(BlockAxis{1, 1, 0}, BlockAxis{6, 4, 4}, BlockAxis{5, 5, 0}, BlockAxis{8, 2, 1}));
}

std::int64_t defined_block(const BlockGrid& grid, const Shape& at) {
  std::int64_t block = 0;
  for (std::size_t dim = 0; dim < at.size(); ++dim) {
    block = block * grid.counts[dim] + at[dim] / grid.block[dim];
  }
  return block;
}

/// Every element's place in memory must give its block, and quads_in_one_block() must be right.
void expect_right_blocks(const BlockGrid& grid, Layout layout) {
  const Physical physical({Storage::Buffer, layout}, DType::F32, grid.shape);
  const std::vector<BlockAxis> axes = block_axes(grid, layout);
  std::vector<std::int64_t> by_place(static_cast<std::size_t>(physical.elements()));
  for (std::int64_t i = 0; i < numel(grid.shape); ++i) {
    const Shape at = coordinates(grid.shape, i);
    Shape full(4 - at.size(), 0);
    full.insert(full.end(), at.begin(), at.end());
    const std::int64_t place = physical.offset(full[0], full[1], full[2], full[3]);
    by_place[place] = defined_block(grid, at);
    ASSERT_EQ(block_at(axes, place), by_place[place])
        << to_string(grid.shape) << " in blocks of " << to_string(grid.block) << " " << name_of(layout);
  }
  if (!quads_in_one_block(axes)) return;
  for (std::size_t place = 0; place < by_place.size(); ++place) {
    ASSERT_EQ(by_place[place], by_place[place / 4 * 4])
        << to_string(grid.shape) << " in blocks of " << to_string(grid.block) << " " << name_of(layout);
  }
}

TEST(BlockAxes, LeadEveryPlaceInMemoryToItsBlock) {
  std::mt19937 random(3);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 600; ++round) {
    Shape shape, block;
    for (std::int64_t rank = pick(1, 4); rank > 0; --rank) {
      shape.push_back(pick(1, 9));
      const std::int64_t kind = pick(0, 3);
      block.push_back(kind == 0 ? 1 : kind == 1 ? shape.back() : pick(1, shape.back()));
    }
    for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
      expect_right_blocks(grid_of(shape, block), layout);
    }
  }
}

}  // namespace

}  // namespace assay::ops
