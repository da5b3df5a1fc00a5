#include "harness/commands/run/shards/run_shard.h"

#include "tests/support/records.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using ::testing::ElementsAre;

/// Rows of mode accu of an op, one a group.
struct CostsBench {
  Case make(const std::string& name) const { return test::make_case(op, test::shape_params({4}), name); }
  Record took(const Case& test_case, double ms, Status status = Status::Pass) const {
    Record record = test::without_answer(test_case.name, status, "");
    record.info.id = test_case.id;
    record.info.op = op.name;
    record.info.mode = "accu";
    record.total_ms = ms;
    return record;
  }

  Op op = test::flip_op();
};

TEST(MeasuredCosts, AreTheTimesOfTheRowsAndOfTheirReference) {
  const CostsBench bench;
  const Case a = bench.make("a");
  const Case b = bench.make("b");
  std::vector<Record> records{bench.took(a, 3), bench.took(b, 5)};
  records[0].accuracy = AccuracyResult{.reference_ms = 40};
  records[1].accuracy = AccuracyResult{.reference_ms = 40};
  const std::vector<PlannedGroup> groups{{{&a}, {&b}}};
  EXPECT_THAT(measured_costs(groups, test::report_of(records)), ElementsAre(48));
}

TEST(MeasuredCosts, ARowThatIsNewTakesWhatOthersOfItsOpTook) {
  const CostsBench bench;
  const Case a = bench.make("a");
  const Case b = bench.make("b");
  const Case fresh = bench.make("fresh");
  const std::vector<PlannedGroup> groups{{{&a}}, {{&fresh}}};
  EXPECT_THAT(measured_costs(groups, test::report_of({bench.took(a, 3), bench.took(b, 5)})),
              ElementsAre(3, 4));
  EXPECT_THAT(measured_costs(groups, test::report_of({})), ElementsAre(1, 1));
}

TEST(MeasuredCosts, ARowThatWasCutShortTellsNothing) {
  const CostsBench bench;
  const Case a = bench.make("a");
  const Case b = bench.make("b");
  const std::vector<PlannedGroup> groups{{{&a}}};
  const RunReport report = test::report_of({bench.took(a, 0, Status::Missing), bench.took(b, 8)});
  EXPECT_THAT(measured_costs(groups, report), ElementsAre(8));
}

TEST(MeasuredCosts, RowsThatTakeNoTimeStillCostALittle) {
  const CostsBench bench;
  const Case a = bench.make("a");
  const std::vector<PlannedGroup> groups{{{&a}}};
  EXPECT_GT(measured_costs(groups, test::report_of({bench.took(a, 0)})).at(0), 0);
}

}  // namespace
}  // namespace assay::app
