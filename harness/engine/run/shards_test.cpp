#include "harness/engine/run/shards.h"

#include "harness/base/error.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// Cases of an op; each data set has its own key.
struct ShardBench {
  Case& add(std::uint64_t data_key, Mode mode = Mode::Accu) {
    Case test_case = test::make_case(op, test::shape_params({4}), "p" + std::to_string(cases.size()));
    test_case.data_key = data_key;
    test_case.mode = mode;
    return cases.emplace_back(std::move(test_case));
  }
  std::vector<const Case*> selected() const {
    std::vector<const Case*> pointers;
    for (const Case& test_case : cases) pointers.push_back(&test_case);
    return pointers;
  }
  std::vector<PlannedGroup> groups() const { return plan_rows(selected(), {}); }

  Op op = test::flip_op();
  std::deque<Case> cases;
};

TEST(Shards, OfEqualGroupsAreDealtOutOneByOne) {
  const std::vector<double> costs(8, 2.5);
  EXPECT_THAT(balanced(costs, {1, 3}), ElementsAre(0, 3, 6));
  EXPECT_THAT(balanced(costs, {2, 3}), ElementsAre(1, 4, 7));
  EXPECT_THAT(balanced(costs, {3, 3}), ElementsAre(2, 5));
  EXPECT_THAT(balanced(costs, {9, 9}), IsEmpty());
  EXPECT_THAT(balanced({}, {1, 2}), IsEmpty());
}

TEST(Shards, HaveEveryGroupOnceAndAreAboutEquallyLong) {
  unsigned state = 7;
  for (int round = 0; round < 100; ++round) {
    std::vector<double> costs;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525U + 1013904223U;
      costs.push_back(static_cast<double>(1 + ((state >> 20) % 200)));
    }
    const double fair = std::accumulate(costs.begin(), costs.end(), 0.0) / 5;
    const double longest = *std::ranges::max_element(costs);
    std::vector<std::size_t> all;
    for (int index = 1; index <= 5; ++index) {
      double sum = 0;
      for (const std::size_t group : balanced(costs, {index, 5})) {
        sum += costs[group];
        all.push_back(group);
      }
      EXPECT_LE(sum, fair + longest);
    }
    std::ranges::sort(all);
    std::vector<std::size_t> expected(costs.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    EXPECT_EQ(all, expected);
  }
}

TEST(Shards, ATimedRowIsGuessedToCostManyOthers) {
  ShardBench bench;
  bench.add(1);
  bench.add(1);
  bench.add(2, Mode::Perf);
  const std::vector<double> costs = guessed_costs(bench.groups());
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0], 2);
  EXPECT_GT(costs[1], 10);
}

TEST(Shards, KeepTheCasesOfAGroupTogether) {
  ShardBench bench;
  for (const std::uint64_t key : {1U, 2U, 1U, 3U, 2U}) bench.add(key);
  const std::vector<PlannedGroup> groups = bench.groups();
  const std::vector<std::size_t> taken{1, 2};
  const ShardInfo info = shard_info(groups, {2, 2}, taken);
  EXPECT_EQ(info.all_groups, 3U);
  EXPECT_EQ(info.all_rows, 5U);
  std::vector<std::string> names;
  for (const Case* test_case : cases_of_shard(bench.selected(), groups, info))
    names.push_back(test_case->name);
  EXPECT_THAT(names, ElementsAre("p1", "p3", "p4"));
}

TEST(Shards, OfAnotherPlanAreRefused) {
  ShardBench bench;
  bench.add(1);
  bench.add(2);
  const std::vector<std::size_t> taken{0};
  const ShardInfo info = shard_info(bench.groups(), {1, 2}, taken);
  const auto take = [&] { cases_of_shard(bench.selected(), bench.groups(), info); };
  take();
  bench.cases.back().id = "flip/other/plain";
  EXPECT_THAT(take, ThrowsMessage<Error>(HasSubstr("shard 1 of 2")));
  bench.cases.back().id = bench.selected().front()->id + "x";
  bench.add(3);
  EXPECT_THAT(take, ThrowsMessage<Error>(
                        HasSubstr("2 groups of rows were shared out, and the case files here give 3")));
}

}  // namespace
}  // namespace assay
