#include "harness/commands/mutate/fault_campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Rows of one op with chosen variants and costs.
class Rows {
 public:
  void add(const std::string& define, double cost, const std::string& traits = "",
           const std::string& id = "") {
    Case& test_case = cases_.emplace_back();
    test_case.op = &op_;
    test_case.id = id;
    test_case.impl = &impl_;
    rows_.push_back(
        {.test_case = &test_case, .variants = {{"a.comp", {{define, "1"}}}}, .traits = traits, .cost = cost});
  }
  std::span<const TrialRow> all() const { return rows_; }

 private:
  Op op_{.name = "copy"};
  Impl impl_{.name = "plain"};
  std::deque<Case> cases_;
  std::vector<TrialRow> rows_;
};

// Every second row is drawn from all: the rows of these tests have one id, so that they are drawn in order.
TEST(RowOrder, TakesTheCheapestOfEachVariantInTurn) {
  Rows rows;
  rows.add("A", 5);
  rows.add("A", 2);
  rows.add("A", 9);
  rows.add("B", 3);
  rows.add("B", 4);
  EXPECT_THAT(RowOrder(rows.all(), {0, 1, 2, 3, 4}).rows_for(1), ElementsAre(1, 0, 3, 4, 2));
}

TEST(RowOrder, TakesRowsWithOtherTraitsEarlier) {
  Rows rows;
  rows.add("A", 1, "tile=4");
  rows.add("A", 2, "tile=4");
  rows.add("A", 3, "tile=8");
  EXPECT_THAT(RowOrder(rows.all(), {0, 1, 2}).rows_for(1), ElementsAre(0, 2, 1));
}

TEST(RowOrder, DrawsEverySecondRowFromAll) {
  Rows rows;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < 200; ++i) {
    rows.add("A", static_cast<double>(i), "", "row" + std::to_string(i));
    all.push_back(i);
  }
  const std::vector<std::size_t> order = RowOrder(rows.all(), all).rows_for(1);
  const auto expensive =
      std::count_if(order.begin(), order.begin() + 20, [](std::size_t row) { return row > 50; });
  EXPECT_GE(expensive, 4);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 200U);
}

TEST(RowOrder, LeavesOutRowsThatDoNotUseTheFile) {
  Rows rows;
  for (int i = 0; i < 4; ++i) rows.add("A", 1);
  EXPECT_THAT(RowOrder(rows.all(), {1, 3}).rows_for(1), UnorderedElementsAre(1, 3));
}

TEST(RowOrder, BeginsWithWhatKilledNeighbours) {
  Rows rows;
  for (int i = 0; i < 5; ++i) rows.add("A", i);
  RowOrder order(rows.all(), {0, 1, 2, 3, 4});
  order.note_kill(10, 3);
  order.note_kill(100, 4);
  EXPECT_THAT(order.rows_for(11), ElementsAre(3, 4, 0, 1, 2));
  EXPECT_THAT(order.rows_for(99), ElementsAre(4, 3, 0, 1, 2));
}

}  // namespace

}  // namespace assay::app
