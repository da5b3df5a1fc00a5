#include "tests/example/example_linear.h"
#include "tests/faults/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::example {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const Op& op() {
  static const Op made = linear();
  return made;
}

Case linear_case(const std::string& impl, const Tune& tune = {}) {
  Case made = faults::fault_case(op(), impl, linear_params(5, 203, 39));
  made.tune = tune;
  return made;
}

Record run(const Case& test_case, Mode mode = Mode::Accu) {
  return faults::Bench::shared().run(test_case, mode);
}

TEST(ExampleOp, IsRightByEachImplWithinItsOwnUnitError) {
  for (const char* impl : {"in_order", "by_fours", "staged"}) {
    const Record record = run(linear_case(impl));
    EXPECT_EQ(record.status, Status::Pass) << impl << ": " << record.reason;
    ASSERT_TRUE(record.accuracy);
    EXPECT_EQ(record.accuracy->output_class, OutputClass::Bounded);
    EXPECT_GT(record.accuracy->err_over_bound, 0) << impl << ": an answer without any error proves nothing";
    EXPECT_LE(record.accuracy->err_over_bound, 1);
  }
}

TEST(ExampleOp, HoldsTheBetterImplAgainstTheNarrowerBound) {
  const DeviceInfo& device = faults::Bench::shared().device().info();
  const Case made = linear_case("in_order");
  const BuildContext context(made.params, made.tensors, made.forms, device, made.tune);
  const double in_order = op().find_impl("in_order")->unit_error(context).of_magnitude;
  const double by_fours = op().find_impl("by_fours")->unit_error(context).of_magnitude;
  EXPECT_NEAR(in_order, 207 * 0x1p-24, 1e-9);
  EXPECT_NEAR(by_fours, 58 * 0x1p-24, 1e-9);
}

TEST(ExampleOp, PacksItsWeightsBeforeAndOutsideOfTheTime) {
  const Record record = run(linear_case("in_order"), Mode::Perf);
  ASSERT_EQ(record.status, Status::Pass) << record.reason;
  ASSERT_TRUE(record.perf);
  EXPECT_GT(record.perf->setup_us, 0);
  ASSERT_EQ(record.perf->dispatches.size(), 1U);
  EXPECT_EQ(record.perf->dispatches[0].label, "product");
  EXPECT_EQ(record.perf->ceiling, "fp32");
  EXPECT_EQ(record.perf->operations, 2 * 5 * 203 * 39);
}

TEST(ExampleOp, IsUnsupportedWithTheNumbersWhereTheDeviceLacksWhatItsTuningNeeds) {
  const Record record = run(linear_case("staged", {{"tile_k", 1 << 24}}));
  EXPECT_EQ(record.status, Status::Unsupported);
  EXPECT_THAT(record.reason, StartsWith("tile_k 16777216 needs 67108864 bytes of shared memory, "));
}

TEST(ExampleOp, ChoosesTheFirstImplThatCanRun) {
  const Record staged = run(linear_case("auto"), Mode::Perf);
  ASSERT_TRUE(staged.perf) << staged.reason;
  EXPECT_EQ(staged.perf->impl_auto, "staged");
  const Record by_fours = run(linear_case("auto", {{"tile_k", 1 << 24}}), Mode::Perf);
  ASSERT_TRUE(by_fours.perf) << by_fours.reason;
  EXPECT_EQ(by_fours.perf->impl_auto, "by_fours");
}

TEST(ExampleOp, ListsWhatItsTunableMayBe) {
  const Tunable& tile = op().find_impl("staged")->tunables.front();
  EXPECT_TRUE(tile.allows(32));
  EXPECT_FALSE(tile.allows(33));
}

TEST(ExampleOp, IsRefusedWhenItsProgramSetsAConstantThatTheShaderLacks) {
  Op wrong = linear();
  wrong.impls.front().build = [](const BuildContext& context) {
    Program program = op().find_impl("in_order")->build(context);
    program.dispatches.back().constants.push_back({"dept", 1});
    return program;
  };
  Case made = linear_case("in_order");
  made.op = &wrong;
  made.impl = &wrong.impls.front();
  const Record record = run(made);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("dept"));
}

}  // namespace
}  // namespace assay::example
