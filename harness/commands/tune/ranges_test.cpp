#include "harness/commands/tune/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace assay::app {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Ratios with an interval of half a percent to both sides.
MeasuredShape shape_at(std::vector<std::int64_t> at, const std::map<std::size_t, double>& ratios,
                       double half = 0.005) {
  MeasuredShape shape{.at = std::move(at), .ratios = {}};
  for (const auto& [candidate, ratio] : ratios) {
    shape.ratios[candidate] = {
        .median = ratio, .interval = {.low = ratio - half, .high = ratio + half}, .pairs = 7};
  }
  return shape;
}

std::vector<std::size_t> candidates_of(const std::vector<TunedRange>& ranges) {
  std::vector<std::size_t> candidates;
  for (const TunedRange& range : ranges) candidates.push_back(range.candidate);
  return candidates;
}

TEST(TunedRanges, NeighboursWhoseBestIsTheSameShareOne) {
  const std::vector<MeasuredShape> shapes{shape_at({64, 1024}, {{1, 0.8}, {2, 0.9}}),
                                          shape_at({128, 1024}, {{1, 0.7}, {2, 0.95}}),
                                          shape_at({256, 4096}, {{1, 0.75}, {2, 0.745}})};
  const std::vector<TunedRange> ranges = tuned_ranges(shapes);
  ASSERT_EQ(ranges.size(), 1U) << "at the third, candidate 2 is better by less than 1 %";
  EXPECT_EQ(ranges[0].candidate, 1U);
  EXPECT_THAT(ranges[0].box, ElementsAre(ValueRange{46, 362}, ValueRange{725, 5792}));
  EXPECT_THAT(ranges[0].ratio, DoubleNear(0.749, 0.001));
  EXPECT_EQ(ranges[0].ratio_low, 0.7 - 0.005);
  EXPECT_EQ(ranges[0].ratio_high, 0.8 + 0.005);
}

TEST(TunedRanges, AreCutWhereTheBestChanges) {
  // Candidate 1 is best for few rows, 2 for many, whatever K is.
  std::vector<MeasuredShape> shapes;
  for (const std::int64_t k : {1024, 4096}) {
    for (const std::int64_t m : {1, 4}) shapes.push_back(shape_at({m, k}, {{1, 0.8}, {2, 1.2}}));
    for (const std::int64_t m : {64, 256}) shapes.push_back(shape_at({m, k}, {{1, 1.1}, {2, 0.9}}));
  }
  const std::vector<TunedRange> ranges = tuned_ranges(shapes);
  EXPECT_THAT(candidates_of(ranges), ElementsAre(1, 2));
  EXPECT_THAT(ranges[0].box, ElementsAre(ValueRange{1, 16}, ValueRange{725, 5792}));
  EXPECT_THAT(ranges[1].box, ElementsAre(ValueRange{17, 362}, ValueRange{725, 5792}));
  EXPECT_THAT(left_out_pct(shapes), testing::Each(DoubleNear(0, 1e-9))) << "the other K gives the same";
}

TEST(TunedRanges, DoNotOverlapAndHoldTheirShapes) {
  std::vector<MeasuredShape> shapes;
  for (std::int64_t i = 0; i < 60; ++i) {
    const std::size_t best = 1 + static_cast<std::size_t>(i * 7 % 5);
    std::map<std::size_t, double> ratios;
    for (std::size_t candidate = 1; candidate <= 5; ++candidate)
      ratios[candidate] = candidate == best ? 0.7 : 1.3;
    shapes.push_back(shape_at({1 + i % 8, 1 + i / 8}, ratios));
  }
  const std::vector<TunedRange> ranges = tuned_ranges(shapes);
  std::set<std::size_t> held;
  for (std::size_t a = 0; a < ranges.size(); ++a) {
    for (const std::size_t shape : ranges[a].shapes) {
      EXPECT_TRUE(held.insert(shape).second);
      for (std::size_t dim = 0; dim < 2; ++dim) EXPECT_TRUE(ranges[a].box[dim].has(shapes[shape].at[dim]));
      EXPECT_EQ(ranges[a].candidate, 1 + shape * 7 % 5) << "each shape has its best";
    }
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(ranges[a].box[0].meets(ranges[b].box[0]) && ranges[a].box[1].meets(ranges[b].box[1]));
    }
  }
  EXPECT_EQ(held.size(), shapes.size());
}

TEST(TunedRanges, HaveTheDefaultsWhereNothingIsClearlyBetter) {
  EXPECT_THAT(candidates_of(tuned_ranges(std::vector{shape_at({4}, {{1, 1.2}})})), ElementsAre(0));
  EXPECT_THAT(candidates_of(tuned_ranges(std::vector{shape_at({4}, {{1, 0.995}}, 0.001)})), ElementsAre(0))
      << "by less than 1 %";
  EXPECT_THAT(candidates_of(tuned_ranges(std::vector{shape_at({4}, {{1, 0.9}}, 0.2)})), ElementsAre(0))
      << "the interval holds 1";
  EXPECT_THAT(candidates_of(tuned_ranges(std::vector{shape_at({4}, {{1, 0.9}}, 0.02)})), ElementsAre(1));
  const std::vector<MeasuredShape> none;
  EXPECT_TRUE(tuned_ranges(none).empty());
  EXPECT_TRUE(left_out_pct(none).empty());
}

TEST(TunedRanges, AreDividedWhereOnlySomeShapesAreClearlyFaster) {
  const std::vector<MeasuredShape> shapes{shape_at({64}, {{1, 0.97}}, 0.1), shape_at({128}, {{1, 0.98}}, 0.3),
                                          shape_at({1024}, {{1, 0.9}}, 0.01)};
  const std::vector<TunedRange> ranges = tuned_ranges(shapes);
  EXPECT_EQ(ranges.back().candidate, 1U);
  EXPECT_EQ(ranges.back().box, (std::vector<ValueRange>{{363, 1448}}));
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i) EXPECT_EQ(ranges[i].candidate, 0U);
}

TEST(TunedRanges, ACandidateThatCannotRunAtAShapeIsNotUsedThere) {
  const std::vector<MeasuredShape> shapes{shape_at({4}, {{1, 0.5}}), shape_at({16}, {{2, 0.9}})};
  EXPECT_THAT(candidates_of(tuned_ranges(shapes)), ElementsAre(1, 2));
  const std::vector<MeasuredShape> one_place{shape_at({4}, {{1, 0.5}}), shape_at({4}, {{2, 0.9}})};
  EXPECT_THAT(candidates_of(tuned_ranges(one_place)), ElementsAre(0)) << "nothing tells the two apart";
}

TEST(LeftOut, IsWhatARangeOfTheOthersCosts) {
  const std::vector<MeasuredShape> shapes{shape_at({64}, {{1, 0.8}, {2, 0.9}}),
                                          shape_at({80}, {{1, 0.9}, {2, 0.6}}),
                                          shape_at({96}, {{1, 0.8}, {2, 0.9}})};
  EXPECT_THAT(candidates_of(tuned_ranges(shapes)), ElementsAre(1, 2, 1));
  const std::vector<double> costs = left_out_pct(shapes);
  EXPECT_THAT(costs[1], DoubleNear(50, 1e-6)) << "its neighbours give it candidate 1: 0.9 for 0.6";
  const std::vector<MeasuredShape> alone{shape_at({64}, {{1, 0.8}})};
  EXPECT_THAT(left_out_pct(alone), ElementsAre(DoubleNear(25, 1e-6))) << "the defaults: 1 for 0.8";
}

}  // namespace
}  // namespace assay::app
