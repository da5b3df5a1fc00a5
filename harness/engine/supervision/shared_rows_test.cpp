#include "harness/engine/supervision/shared_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

/// Rows of mode accu, `in_group` of each group.
std::vector<RowInfo> accuracy_rows(std::size_t groups, std::size_t in_group) {
  std::vector<RowInfo> rows;
  for (std::size_t row = 0; row < groups * in_group; ++row)
    rows.push_back({.id = std::to_string(row), .group = std::to_string(row / in_group), .mode = "accu"});
  return rows;
}

TEST(SharedRows, AreTakenEachOnceInGroupsAndInOrder) {
  SharedRows shared(2);
  shared.add(accuracy_rows(50, 3), {}, {});
  std::vector<RowIndex> all;
  std::size_t takes = 0;
  std::size_t largest = 0;
  for (std::vector<RowIndex> rows = shared.take(); !rows.empty(); rows = shared.take(), ++takes) {
    EXPECT_EQ(rows.size() % 3, 0U) << "a group was divided";
    largest = std::max(largest, rows.size());
    all.insert(all.end(), rows.begin(), rows.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(all.size(), 150U);
  EXPECT_EQ(largest, 50U / 8 * 3);
  EXPECT_LT(takes, 30U) << "workers wait each time that they ask";
}

TEST(SharedRows, AreThoseThatAreWantedAndNotTimed) {
  std::vector<RowInfo> plan = accuracy_rows(4, 1);
  plan[1].mode = "perf";
  SharedRows shared(1);
  shared.add(plan, {.wanted = {true, true, false, true}}, {});
  EXPECT_THAT(shared.take(), ElementsAre(0));
  EXPECT_THAT(shared.take(), ElementsAre(3));
  EXPECT_THAT(shared.take(), IsEmpty());
}

TEST(SharedRows, AreTakenAgainWhenTheyComeBack) {
  SharedRows shared(1);
  shared.add(accuracy_rows(2, 1), {}, {});
  EXPECT_THAT(shared.take(), ElementsAre(0));
  shared.give_back(0, {.status = Status::Missing, .reason = "given up"});
  const auto rest = shared.take_rest();
  EXPECT_THAT(rest, ElementsAre(Key(0), Key(1)));
  EXPECT_EQ(rest.at(0).value().reason, "given up");
  EXPECT_FALSE(rest.at(1).has_value());
  EXPECT_FALSE(shared.has_rows());
}

}  // namespace
}  // namespace assay
