#include "harness/gpu/memory/placement.h"

#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

TEST(Placement, PutsBuffersBehindEachOtherAligned) {
  const std::vector<PlacementNeed> needs{{100, 64}, {10, 64}, {7, 1}};
  const PlacementPlan plan = place(needs, 1000);
  ASSERT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{145}));
  EXPECT_EQ(plan.places[0].offset, 0u);
  EXPECT_EQ(plan.places[1].offset, 128u);
  EXPECT_EQ(plan.places[2].offset, 138u);
}

TEST(Placement, StartsANewBlockWhenTheLargestAllocationIsFull) {
  const std::vector<PlacementNeed> needs{{600, 1}, {400, 1}, {1, 1}};
  const PlacementPlan plan = place(needs, 1000);
  EXPECT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{1000, 1}));
  EXPECT_EQ(plan.places[1].block, 0u);
  EXPECT_EQ(plan.places[2].block, 1u);
  EXPECT_EQ(plan.places[2].offset, 0u);
}

TEST(Placement, GivesATooLargeBufferABlockOfItsOwn) {
  const std::vector<PlacementNeed> needs{{1, 1}, {~std::uint64_t{0}, 1}, {1, 1}};
  const PlacementPlan plan = place(needs, 1000);
  EXPECT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{1, ~std::uint64_t{0}, 1}));
}

TEST(Placement, KeepsImagesAndBuffersApart) {
  const std::vector<PlacementNeed> needs{
      {10, 4, false}, {10, 4, false}, {10, 4, true}, {10, 4, true}, {10, 4, false}};
  const PlacementPlan plan = place(needs, 1000, 64);
  std::vector<std::uint64_t> offsets;
  for (const Placement& one : plan.places) {
    offsets.push_back(one.offset);
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 12, 64, 76, 128}));
}

TEST(Placement, OfNothingIsNothing) {
  EXPECT_TRUE(place({}, 1000).block_bytes.empty());
}

}  // namespace
}  // namespace assay::gpu
