#include "harness/engine/diagnosis/displacement.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace assay {
namespace {

using test::Wronged;

std::vector<std::int64_t> all(const ElementMap& map, std::int64_t count) {
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < count; ++i) from.push_back(map.from(i));
  return from;
}

using Places = std::vector<std::int64_t>;

TEST(ElementMap, OfANeighbourEndsAtTheEndOfItsDim) {
  EXPECT_EQ(all(shifted({2, 3}, 1, 1), 6), (Places{1, 2, -1, 4, 5, -1}));
  EXPECT_EQ(all(shifted({2, 3}, 0, -1), 6), (Places{-1, -1, -1, 0, 1, 2}));
}

TEST(ElementMap, OfExchangedAndFixedAndReversedIndices) {
  EXPECT_EQ(all(exchanged({5}, 0, 1, ElementMap::Kind::Lanes), 5), (Places{1, 0, 3, 2, -1}));
  EXPECT_EQ(all(fixed_at({2, 2}, 0, 0), 4), (Places{0, 1, 0, 1}));
  EXPECT_EQ(all(reversed({2, 3}, 1), 6), (Places{2, 1, 0, 5, 4, 3}));
}

TEST(ElementMap, OfSquaresThatAreTransposed) {
  EXPECT_EQ(all(squares_transposed({2, 4}, 0, 1, 2), 8), (Places{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST(ElementMap, OfDimsInAnotherOrder) {
  // [2, 3] whose elements are taken for those of [3, 2], transposed: 0 3 1 4 2 5.
  EXPECT_EQ(all(dims_reordered({2, 3}, {1, 0}), 6), (Places{0, 3, 1, 4, 2, 5}));
}

TEST(ElementMap, OfAnotherLayout) {
  const auto map = in_another_layout({1, 2, 1, 3}, DType::F32, {Storage::Buffer, Layout::WP}, Layout::CP);
  ASSERT_TRUE(map.has_value());
  // The element at offset i in WP is (w, c) = (i / 2, i % 2) when read as CP.
  EXPECT_EQ(all(*map, 6), (Places{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(in_another_layout({4}, DType::F32, {Storage::Buffer, Layout::WP}, Layout::P4C).has_value());
  EXPECT_FALSE(
      in_another_layout({1, 1, 1, 3}, DType::F32, {Storage::Buffer, Layout::WP}, Layout::HP).has_value())
      << "the same places";
}

TEST(ElementMap, OfNeighboursInMemory) {
  const auto map = exchanged_in_memory({1, 2, 1, 2}, DType::F32, {Storage::Buffer, Layout::CP}, 1);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(all(*map, 4), (Places{2, 3, 0, 1})) << "channels are neighbours";
}

TEST(PackedDim, IsTheLayouts) {
  EXPECT_EQ(packed_dim({2, 3, 4, 5}, Layout::P4W), 3U);
  EXPECT_EQ(packed_dim({2, 3, 4, 5}, Layout::HP), 2U);
  EXPECT_EQ(packed_dim({2, 3, 4, 5}, Layout::P4W4C), 1U);
  EXPECT_FALSE(packed_dim({5}, Layout::P4C).has_value());
}

Wronged reals() {
  return {test::product_op(), test::product_params(8, 8, 16)};
}

ErrorKind kind_said(const Wronged& wronged) {
  const auto found = explain_displacement(wronged.output());
  return found ? found->kind : ErrorKind::Nan;
}

TEST(ExplainDisplacement, TellsIndexPackingAndLayoutApart) {
  Wronged wronged = reals();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i ^ 16); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Index) << "rows are exchanged";
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i ^ 1); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Packing) << "neighbours in a quad are exchanged";
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i % 8 * 16 + i / 8); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Layout) << "y is transposed";
}

TEST(ExplainDisplacement, SaysNothingOfOtherValuesOrFewOfThem) {
  Wronged wronged = reals();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + 0.5; });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan);
  wronged.answer_by([&](std::int64_t i) { return i == 5 ? wronged.expected(6) : wronged.expected(i); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan) << "one element that equals its neighbour proves nothing";
  wronged.answer_by([&](std::int64_t) { return 0; });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan);
}

TEST(ExplainLanes, OfAnyOrder) {
  Wronged wronged = reals();
  constexpr std::array<std::int64_t, 4> order{2, 0, 3, 1};
  wronged.answer_by(
      [&](std::int64_t i) { return wronged.expected(i / 4 * 4 + order[static_cast<std::size_t>(i % 4)]); });
  const auto found = explain_lanes(wronged.output());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Packing);
  EXPECT_EQ(found->text, "lanes 0 to 3 of every four columns hold lanes 2, 0, 3, 1");
}

/// A shift through rows was called one along dim 0, which would be by whole rows.
TEST(LikelyMaps, ThroughAllDimsAreInRowMajorOrder) {
  std::map<std::string, std::int64_t> from;
  for (const ElementMap& map : likely_maps({3, 4, 5, 6}, DType::F32, std::nullopt))
    from.emplace(map.text, map.from(95));
  EXPECT_EQ(from.at("the neighbour 1 further along dim 0"), 95 + 120);
  EXPECT_EQ(from.at("the neighbour 1 further in row-major order"), 96);
  EXPECT_EQ(from.at("index XOR 3 in row-major order"), 92);
  EXPECT_EQ(from.at("the value at index 0 of all dims but the last two"), 5);
}

}  // namespace

}  // namespace assay
