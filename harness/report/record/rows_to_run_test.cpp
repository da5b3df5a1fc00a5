#include "harness/report/record/rows_to_run.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Range = std::array<std::size_t, 3>;

ShardInfo shard_of(std::vector<Range> groups, std::size_t all = 100) {
  return {.index = 1, .count = 2, .all_groups = all, .groups = std::move(groups)};
}

TEST(NumberRanges, AreFewWhereNumbersHaveTheSameDistance) {
  EXPECT_THAT(number_ranges(std::vector<std::size_t>{}), IsEmpty());
  EXPECT_THAT(number_ranges(std::vector<std::size_t>{7}), ElementsAre(Range{7, 7, 1}));
  EXPECT_THAT(number_ranges(std::vector<std::size_t>{2, 10, 18, 26}), ElementsAre(Range{2, 26, 8}));
  EXPECT_THAT(number_ranges(std::vector<std::size_t>{0, 1, 2, 3, 9}),
              ElementsAre(Range{0, 3, 1}, Range{9, 9, 1}));
  EXPECT_THAT(number_ranges(std::vector<std::size_t>{0, 5, 6, 7}),
              ElementsAre(Range{0, 0, 1}, Range{5, 7, 1}));
}

TEST(NumberRanges, GiveTheNumbersBack) {
  unsigned state = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> numbers;
    for (std::size_t number = 0; number < 60; ++number) {
      state = state * 1664525U + 1013904223U;
      if ((state >> 24) % 3 != 0) numbers.push_back(number);
    }
    EXPECT_EQ(groups_of(shard_of(number_ranges(numbers))), numbers);
  }
}

TEST(GroupsOf, RefusesRangesThatAreNone) {
  const auto refused = [](std::vector<Range> groups) {
    EXPECT_THAT([&] { groups_of(shard_of(groups)); }, ThrowsMessage<Error>(HasSubstr("shard 1 of 2")));
  };
  refused({{5, 3, 1}});
  refused({{0, 100, 1}});           // there are 100 only
  refused({{0, 9, 0}});             // would never end
  refused({{0, 9, 2}});             // 9 is not reached
  refused({{0, 5, 1}, {5, 6, 1}});  // twice
  EXPECT_THAT(groups_of(shard_of({{0, 99, 1}})), SizeIs(100));
}

TEST(GroupsOf, TakesNoMemoryForNumbersThatNobodyHas) {
  const std::size_t huge = std::size_t{1} << 60;
  EXPECT_THAT(
      [&] {
        groups_of(shard_of({{0, huge - 1, 1}}, huge));
      },
      ThrowsMessage<Error>(HasSubstr("no run has")));
}

TEST(GroupsOf, RefusesAShardOfMoreThanARunHas) {
  for (const auto& [index, count] : {std::pair(1, 2'000'000'000), std::pair(3, 2), std::pair(0, 2)}) {
    ShardInfo shard = shard_of({{0, 99, 1}});
    shard.index = index;
    shard.count = count;
    EXPECT_THAT([&] { groups_of(shard); }, ThrowsMessage<Error>(HasSubstr("a run has at most 1000000")));
  }
}

}  // namespace

}  // namespace assay
