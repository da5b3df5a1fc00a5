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
  tuned.group.points.push_back({.base = test::make_case(op, test::shape_params({4, 8})), .at = {4, 8}});
  tuned.candidates = {{{"tile", 64}}};
  tuned.shapes = {shape_of_rows(4, 0.8), shape_of_rows(16, 0.5), shape_of_rows(256, 1.3)};
  EXPECT_FALSE(tuned.is_tuned()) << "it was not searched";
  tuned.is_searched = true;
  EXPECT_TRUE(tuned.is_tuned());
  const std::vector<TuningEntry> entries = entries_of(tuned);
  ASSERT_EQ(entries.size(), 1U);
  const TuningEntry& entry = entries.front();
  EXPECT_EQ(entry.op, "flip");
  EXPECT_EQ(entry.impl, "plain");
  EXPECT_EQ(entry.tune, (Tune{{"tile", 64}}));
  EXPECT_EQ(entry.forms, tuned.group.forms);
  EXPECT_EQ(entry.when.at("shape").ranges, (std::vector<ValueRange>{{3, 64}, {6, 11}}));
  EXPECT_EQ(entry.shapes, 2);
  EXPECT_THAT(entry.ratio, DoubleNear(0.632, 0.001));
  EXPECT_EQ(entry.ratio_low, 0.5 - 0.01);
  EXPECT_EQ(entry.ratio_high, 0.8 + 0.01);
  ASSERT_TRUE(entry.left_out_pct);
  EXPECT_GT(*entry.left_out_pct, 0) << "without them their ranges are others, or none";
}

TEST(TunedClass, ThatIsNotConfirmedReplacesNothing) {
  TunedClass tuned;
  tuned.is_searched = true;
  EXPECT_TRUE(tuned.is_tuned()) << "nothing is faster";
  tuned.candidates = {{{"tile", 64}}};
  EXPECT_FALSE(tuned.is_tuned());
  EXPECT_TRUE(entries_of(tuned).empty());
}

}  // namespace
}  // namespace assay::app
