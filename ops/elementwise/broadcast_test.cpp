#include "ops/elementwise/broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace assay::ops {
namespace {

using testing::ElementsAre;

constexpr Layout layouts[] = {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W};

Physical bytes(const Shape& shape, Layout layout) {
  return {{Storage::Buffer, layout}, DType::I8, shape};
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(std::max(a[i], b[i]));
  return y;
}

std::vector<BroadcastAxis> axes_of(const Shape& a, const Shape& b, Layout layout) {
  return broadcast_axes(bytes(a, layout), bytes(b, layout), bytes(broadcast_shape(a, b), layout));
}

/// The words of a and b that the axes give for a word of y, computed like the kernel.
std::pair<std::int64_t, std::int64_t> words_at(const std::vector<BroadcastAxis>& axes, std::int64_t word) {
  std::int64_t a = 0, b = 0;
  for (const BroadcastAxis& axis : axes) {
    a += word % axis.size * axis.a_step;
    b += word % axis.size * axis.b_step;
    word /= axis.size;
  }
  EXPECT_EQ(word, 0);
  return {a, b};
}

std::int64_t source(const Physical& operand, const std::vector<std::int64_t>& at) {
  const Dims& dims = operand.dims();
  const auto index = [](std::int64_t i, std::int64_t size) { return size == 1 ? 0 : i; };
  return operand.offset(index(at[0], dims.n), index(at[1], dims.c), index(at[2], dims.h),
                        index(at[3], dims.w));
}

/// Checks that every element of y finds its a and b: in its own lane, or in lane 0 of a spread word.
void expect_right_words(const Shape& a_shape, const Shape& b_shape, Layout layout) {
  const Shape y_shape = broadcast_shape(a_shape, b_shape);
  const Physical a = bytes(a_shape, layout), b = bytes(b_shape, layout), y = bytes(y_shape, layout);
  const std::vector<BroadcastAxis> axes = broadcast_axes(a, b, y);
  ASSERT_LE(axes.size(), 5U);
  std::int64_t words = 1;
  for (const BroadcastAxis& axis : axes) words *= axis.size;
  ASSERT_EQ(words, y.elements() / 4);
  for (std::int64_t i = 0; i < numel(y_shape); ++i) {
    const std::vector<std::int64_t> at = coordinates(y_shape, i);
    const std::int64_t place = y.offset(at[0], at[1], at[2], at[3]);
    const auto [a_word, b_word] = words_at(axes, place / 4);
    ASSERT_EQ(4 * a_word + (spreads(a, y) ? 0 : place % 4), source(a, at)) << to_string(a_shape);
    ASSERT_EQ(4 * b_word + (spreads(b, y) ? 0 : place % 4), source(b, at)) << to_string(b_shape);
  }
}

TEST(BroadcastAxes, FindEveryWordWhateverIsBroadcast) {
  std::mt19937 random(17);
  const auto pick = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int round = 0; round < 400 && !testing::Test::HasFatalFailure(); ++round) {
    Shape a, b;
    for (int dim = 0; dim < 4; ++dim) {
      const std::int64_t size = pick(9);
      const std::int64_t kind = pick(3);
      a.push_back(kind == 1 ? 1 : size);
      b.push_back(kind == 2 ? 1 : size);
    }
    for (const Layout layout : layouts) expect_right_words(a, b, layout);
  }
}

/// Checks what the kernel relies on when it loads four words at once.
TEST(BroadcastAxes, StepWordByWordOrNotAtAllAlongTheFastestAndInVectorsBeyond) {
  std::mt19937 random(18);
  const auto pick = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int round = 0; round < 400; ++round) {
    Shape a, b;
    for (int dim = 0; dim < 4; ++dim) {
      const std::int64_t size = pick(2) == 1 ? 16 : pick(9);
      const std::int64_t kind = pick(3);
      a.push_back(kind == 1 ? 1 : size);
      b.push_back(kind == 2 ? 1 : size);
    }
    for (const Layout layout : layouts) {
      const std::vector<BroadcastAxis> axes = axes_of(a, b, layout);
      ASSERT_TRUE(axes[0].a_step == 0 || axes[0].a_step == 1);
      ASSERT_TRUE(axes[0].b_step == 0 || axes[0].b_step == 1);
      if (axes[0].size % 4 != 0) continue;
      for (std::size_t i = 1; i < axes.size(); ++i) {
        ASSERT_TRUE(axes[0].a_step == 0 || axes[i].a_step % 4 == 0);
        ASSERT_TRUE(axes[0].b_step == 0 || axes[i].b_step % 4 == 0);
      }
    }
  }
}

TEST(BroadcastAxes, AreOneWhereNothingIsBroadcast) {
  for (const Layout layout : layouts) {
    const Physical y = bytes({2, 5, 6, 7}, layout);
    EXPECT_THAT(broadcast_axes(y, y, y), ElementsAre(BroadcastAxis{y.elements() / 4, 1, 1}));
  }
  EXPECT_THAT(axes_of({1, 1, 1, 1}, {1, 1, 1, 1}, Layout::P4C), ElementsAre(BroadcastAxis{1, 1, 1}));
}

TEST(BroadcastAxes, MergeWhatAnOperandPerChannelNeedNotTellApart) {
  // 4W: rows and words of a channel; its channels.
  EXPECT_THAT(axes_of({1, 6, 5, 8}, {1, 6, 1, 1}, Layout::P4W),
              ElementsAre(BroadcastAxis{10, 1, 0}, BroadcastAxis{6, 10, 1}));
  // 4C: blocks of channels; all pixels.
  EXPECT_THAT(axes_of({2, 8, 5, 8}, {1, 8, 1, 1}, Layout::P4C),
              ElementsAre(BroadcastAxis{2, 1, 1}, BroadcastAxis{80, 2, 0}));
}

TEST(Spreads, WhereThePackedDimIsBroadcast) {
  EXPECT_TRUE(spreads(bytes({1, 6, 1, 1}, Layout::P4W), bytes({1, 6, 5, 8}, Layout::P4W)));
  EXPECT_FALSE(spreads(bytes({1, 6, 1, 1}, Layout::P4C), bytes({1, 6, 5, 8}, Layout::P4C)));
  EXPECT_TRUE(spreads(bytes({1, 1, 5, 8}, Layout::P4W4C), bytes({1, 6, 5, 8}, Layout::P4W4C)));
  EXPECT_FALSE(spreads(bytes({1, 6, 1, 1}, Layout::P4W), bytes({1, 6, 5, 1}, Layout::P4W)));
}

}  // namespace
}  // namespace assay::ops
