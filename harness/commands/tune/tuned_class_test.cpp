#include "harness/commands/tune/tuned_class.h"

#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using testing::DoubleNear;

MeasuredShape shape_of_rows(std::int64_t rows, double ratio) {
  MeasuredShape shape{.at = {rows, 8}, .ratios = {}};
  shape.ratios[1] = {.median = ratio, .interval = {.low = ratio - 0.01, .high = ratio + 0.01}, .pairs = 7};
  return shape;
}

TEST(TunedClass, HasAnEntryForEachRangeInWhichSomethingIsFaster) {
  const Op op = test::flip_op();
  TunedClass tuned{.group = {.op = &op, .impl = &op.impls.front()}};
  tuned.group.forms = {{"x", "buffer/WP"}};
  tuned.group.caches = Caches::Cold;
  tuned.group.points.push_back({.base = test::make_case(op, test::shape_params({4, 8})), .at = {4, 8}});
  tuned.candidates = {{{"tile", 64}}};
  tuned.shapes = {shape_of_rows(4, 0.8), shape_of_rows(16, 0.5), shape_of_rows(256, 1.3)};
  const std::vector<TuningEntry> entries = entries_of(tuned);
  ASSERT_EQ(entries.size(), 1U);
  const TuningEntry& entry = entries.front();
  EXPECT_EQ(entry.op, "flip");
  EXPECT_EQ(entry.impl, "plain");
  EXPECT_EQ(entry.tune, (Tune{{"tile", 64}}));
  EXPECT_EQ(entry.forms, tuned.group.forms);
  EXPECT_EQ(entry.cache, Cache::Cold);
  EXPECT_EQ(entry.when.at("shape").ranges, (std::vector<ValueRange>{{3, 64}, {6, 11}}));
  EXPECT_EQ(entry.shapes, 2);
  EXPECT_THAT(entry.ratio, DoubleNear(0.632, 0.001));
  EXPECT_EQ(entry.ratio_low, 0.5 - 0.01);
  EXPECT_EQ(entry.ratio_high, 0.8 + 0.01);
  ASSERT_TRUE(entry.left_out_pct);
  EXPECT_GT(*entry.left_out_pct, 0) << "without them their ranges are others, or none";
}

/// Two points of flip; their case is not looked at for more than its shape.
std::deque<TunedClass> two_points(const Op& op) {
  std::deque<TunedClass> classes(1);
  TunedClass& tuned = classes.front();
  tuned.group.op = &op;
  tuned.group.impl = &op.impls.front();
  for (const std::int64_t rows : {4, 16})
    tuned.group.points.push_back(
        {.base = test::make_case(op, test::shape_params({rows, 8})), .at = {rows, 8}});
  return classes;
}

TEST(TunedClass, HasNoEntryOfACandidateThatFailedAtOneShape) {
  const Op op = test::flip_op();
  TunedClass tuned = two_points(op).front();
  tuned.candidates = {{{"tile", 64}}};
  tuned.shapes = {shape_of_rows(4, 0.5), shape_of_rows(16, 0.5)};
  EXPECT_EQ(entries_of(tuned).size(), 1U);
  EXPECT_TRUE(tuned.leave_out({{"tile", 64}}));
  EXPECT_FALSE(tuned.leave_out({{"tile", 64}})) << "it is known";
  EXPECT_TRUE(entries_of(tuned).empty());
}

TEST(TunedClass, ReplacesEntriesAllOfWhosePointsWereMeasuredAgain) {
  const Op op = test::flip_op();
  std::deque<TunedClass> classes = two_points(op);
  TunedClass& tuned = classes.front();
  TuningEntry older{.op = "flip", .impl = "plain", .tune = {{"tile", 32}}};
  older.shapes = 2;
  EXPECT_FALSE(is_replaced(older, classes)) << "nothing was searched";
  tuned.searched = {{4, 8}, {16, 8}};
  EXPECT_TRUE(is_replaced(older, classes)) << "nothing is faster";
  tuned.candidates = {{{"tile", 64}}};
  tuned.shapes = {shape_of_rows(4, 0.5)};
  EXPECT_FALSE(is_replaced(older, classes)) << "one point is not confirmed";
  tuned.shapes.push_back(shape_of_rows(16, 0.5));
  EXPECT_TRUE(is_replaced(older, classes));
  older.shapes = 3;
  EXPECT_FALSE(is_replaced(older, classes)) << "it was made from more points";
  older.shapes = 2;
  older.cache = Cache::Cold;
  EXPECT_FALSE(is_replaced(older, classes)) << "the class is hot";
}

}  // namespace
}  // namespace assay::app
