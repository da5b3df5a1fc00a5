#include "harness/commands/mutate/row_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Rows of one op with chosen variants and costs.
class Rows {
 public:
  void add(const std::string& define, double cost, const std::string& traits = "") {
    Case& test_case = cases_.emplace_back();
    test_case.op = &op_;
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

TEST(RowOrder, TakesTheCheapestOfEachVariantInTurn) {
  Rows rows;
  rows.add("A", 5);
  rows.add("A", 2);
  rows.add("A", 9);
  rows.add("B", 3);
  rows.add("B", 4);
  EXPECT_THAT(RowOrder(rows.all(), {0, 1, 2, 3, 4}).rows_for(1), ElementsAre(1, 3, 4, 0, 2));
}

TEST(RowOrder, TakesRowsWithOtherTraitsEarlier) {
  Rows rows;
  rows.add("A", 1, "tile=4");
  rows.add("A", 2, "tile=4");
  rows.add("A", 3, "tile=8");
  EXPECT_THAT(RowOrder(rows.all(), {0, 1, 2}).rows_for(1), ElementsAre(0, 2, 1));
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
