#include "harness/chain/layout_plan.h"

#include "harness/chain/chain_program.h"
#include "harness/chain/chain_test_support.h"
#include "harness/chain/node_times.h"
#include "tests/support/error_text.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

namespace assay::chain {
namespace {

using testing::HasSubstr;
using namespace test;
using testing::StartsWith;

struct Planned {
  ResolvedChain resolved;
  LayoutPlan plan;
};

/// Plans a chain whose tensors enter and leave in these forms.
Planned planned(const Chain& chain, PlanMode mode, const std::vector<Form>& outer) {
  ResolvedChain resolved = resolve(chain, {});
  LayoutPlan plan = plan_layouts(chain, resolved, outer, DeviceInfo{}, mode);
  return {std::move(resolved), std::move(plan)};
}

TEST(ChainLayouts, NaiveGivesEveryNodeItsFirstFormAndCopiesBetween) {
  const LayoutPlan plan = planned(squares(), PlanMode::Naive, {cp, cp}).plan;
  EXPECT_THAT(names_of_steps(plan), testing::ElementsAre("x to buffer/WP", "one", "two", "c to buffer/CP"));
  EXPECT_EQ(plan.transitions, 2);
  EXPECT_EQ(plan.transition_bytes, 2 * 2 * 24);
  EXPECT_EQ(plan.folded.size(), 1U) << "the clone changes nothing";
}

TEST(ChainLayouts, OptimalTakesTheFormsWithoutCopies) {
  const LayoutPlan plan = planned(squares(), PlanMode::Optimal, {cp, cp}).plan;
  EXPECT_THAT(names_of_steps(plan), testing::ElementsAre("one", "two"));
  EXPECT_EQ(plan.transitions, 0);
  EXPECT_EQ(plan.folded.size(), 1U);
  EXPECT_TRUE(plan.is_exact);
}

TEST(ChainLayouts, AClonesOutputThatLeavesIsWritten) {
  const Chain chain = chain_of({node("keep", "clone", {{"x", "x"}}, {{"y", "a"}})});
  const LayoutPlan plan = planned(chain, PlanMode::Optimal, {wp, wp}).plan;
  EXPECT_THAT(names_of_steps(plan), testing::ElementsAre("keep"));
  EXPECT_TRUE(plan.folded.empty());
}

TEST(ChainLayouts, NoNodeReadsOneResourceTwice) {
  const Chain with_its_copy = chain_of({node("one", "square", {{"x", "x"}}, {{"y", "a"}}),
                                        node("keep", "clone", {{"x", "a"}}, {{"y", "b"}}),
                                        node("again", "clone", {{"x", "b"}}, {{"y", "c"}}),
                                        node("sum", "add", {{"a", "a"}, {"b", "c"}}, {{"y", "s"}})});
  const LayoutPlan one = planned(with_its_copy, PlanMode::Optimal, {wp, wp}).plan;
  EXPECT_THAT(names_of_steps(one), testing::ElementsAre("one", "again", "sum"));
  const Chain two_copies = chain_of({node("one", "square", {{"x", "x"}}, {{"y", "a"}}),
                                     node("left", "clone", {{"x", "a"}}, {{"y", "b"}}),
                                     node("right", "clone", {{"x", "a"}}, {{"y", "c"}}),
                                     node("sum", "add", {{"a", "b"}, {"b", "c"}}, {{"y", "s"}})});
  const LayoutPlan two = planned(two_copies, PlanMode::Optimal, {wp, wp}).plan;
  EXPECT_THAT(names_of_steps(two), testing::ElementsAre("one", "right", "sum"));
  for (const LayoutPlan& plan : {one, two})
    EXPECT_NE(plan.steps.back().values[0], plan.steps.back().values[1]);
}

TEST(ChainLayouts, ACopyIsMadeOnceForAllThatReadIt) {
  const Chain chain = chain_of({node("one", "add", {{"a", "x"}, {"b", "p"}}, {{"y", "s"}}),
                                node("other", "square", {{"x", "x"}}, {{"y", "p"}}),
                                node("two", "add", {{"a", "s"}, {"b", "p"}}, {{"y", "t"}})});
  const LayoutPlan plan = planned(chain, PlanMode::Optimal, {hp, hp}).plan;
  // square knows WP and CP, add WP and HP: one copy of x, one of p or the result.
  EXPECT_EQ(plan.transitions, 2) << testing::PrintToString(names_of_steps(plan));
}

TEST(ChainLayouts, AFormThatTheDeviceCannotRunNamesTheNode) {
  Chain chain = chain_of({node("one", "square", {{"x", "x"}}, {{"y", "a"}})});
  Op limited = *chain.nodes[0].op;
  limited.impls.front().needs = {Feature::Int64};
  chain.nodes[0].op = &limited;
  chain.nodes[0].impl = &limited.impls.front();
  try {
    planned(chain, PlanMode::Optimal, {wp, wp});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("node 'one': square can run in no form on this device"));
  }
}

/// A chain of this many squares.
Chain line_of(int nodes) {
  std::vector<NodeDecl> all;
  for (int i = 0; i < nodes; ++i) {
    const std::string from = i == 0 ? "x" : "t" + std::to_string(i);
    all.push_back(
        node("n" + std::to_string(i), "square", {{"x", from}}, {{"y", "t" + std::to_string(i + 1)}}));
  }
  return chain_of(std::move(all));
}

TEST(ChainProgram, IntermediateTensorsShareMemory) {
  const Planned line = planned(line_of(6), PlanMode::Optimal, {wp, wp});
  const TimedChain timed = timed_program(line.plan, line.resolved, DeviceInfo{});
  EXPECT_EQ(timed.program.dispatches.size(), 6U);
  EXPECT_EQ(timed.program.dispatches[2].label, "n2/work");
  EXPECT_EQ(scratch_with_memory(timed.program).size(), 2U) << "what is read, what is written";
  EXPECT_EQ(timed.peak_bytes, 2 * 24);
  EXPECT_EQ(timed.program.scratch.size(), 2U + 5U) << "each tensor is scratch of its own";
  EXPECT_EQ(timed.program.dispatches.front().bindings[0].resource, Resource::tensor(0));
  EXPECT_EQ(timed.program.dispatches.back().bindings[1].resource, Resource::tensor(1));
  EXPECT_EQ(timed.program.free_access_because, "");
}

TEST(ChainProgram, NoTensorSharesMemoryWithOneThatIsReadLater) {
  // a is read by the last node, too: nothing may take its memory before.
  const Chain chain = chain_of({node("one", "square", {{"x", "x"}}, {{"y", "a"}}),
                                node("two", "square", {{"x", "a"}}, {{"y", "b"}}),
                                node("three", "square", {{"x", "b"}}, {{"y", "c"}}),
                                node("four", "add", {{"a", "a"}, {"b", "c"}}, {{"y", "d"}})});
  const Planned made = planned(chain, PlanMode::Optimal, {wp, wp});
  const Program program = timed_program(made.plan, made.resolved, DeviceInfo{}).program;
  const auto memory_of = [&](std::size_t dispatch, std::size_t binding) {
    return program.scratch.at(program.dispatches[dispatch].bindings[binding].resource.index)
        .in_memory_of.value();
  };
  EXPECT_EQ(memory_of(0, 1), memory_of(3, 0)) << "a";
  EXPECT_NE(memory_of(0, 1), memory_of(1, 1)) << "b";
  EXPECT_NE(memory_of(0, 1), memory_of(2, 1)) << "c";
  EXPECT_NE(memory_of(1, 1), memory_of(2, 1)) << "b is read while c is written";
}

TEST(ChainProgram, EachStepHasTensorsOfItsOwnWhereItIsJudged) {
  const Planned made = planned(squares(), PlanMode::Naive, {cp, cp});
  const SeparateChain separate = separate_program(made.plan, made.resolved, DeviceInfo{});
  std::vector<std::string> names;
  for (const TensorSpec& spec : separate.tensors) names.push_back(spec.name);
  EXPECT_THAT(names, testing::ElementsAre("x", "x to buffer/WP/y", "one/y", "two/y", "c to buffer/CP/y"));
  EXPECT_TRUE(separate.program.scratch.empty());
  EXPECT_NE(separate.program.free_access_because, "");
  EXPECT_EQ(separate.program.dispatches[0].role, DispatchRole::Transition);
  EXPECT_EQ(separate.program.dispatches[1].role, DispatchRole::Op);
}

TEST(ChainOp, IsAnOpWithTheTensorsThatEnterAndLeave) {
  const Op op = op_of(squares());
  const std::vector<TensorSpec> tensors = op.tensors({});
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "x");
  EXPECT_TRUE(tensors[0].is_input());
  EXPECT_EQ(tensors[1].name, "c");
  EXPECT_EQ(op.work({}, tensors).operations, 3 * 6);
  EXPECT_EQ(op.work({}, tensors).bytes_read, 24);
  ASSERT_EQ(op.impls.size(), 4U);
  Chain other = squares();
  other.nodes[2].name = "another";
  EXPECT_NE(op_of(std::move(other)).definition, op.definition);
}

DeviceInfo device_with(const std::string& driver) {
  DeviceInfo device;
  device.name = "Acme GPU";
  device.driver_name = driver;
  return device;
}

/// Times of everything that decides the plan of squares() between tensors in CP: 1 us in WP, `in_cp` in CP, 2
/// us for a copy.
NodeTimes times_of_squares(double in_cp) {
  const Chain chain = squares();
  NodeTimes times("7", device_with("Acme"));
  for (const TimedPoint& one : points_to_time(chain, resolve(chain, {}), std::vector<Form>{cp, cp})) {
    const bool is_copy = one.point.op->name == "clone";
    times.add({.op = one.point.op->name,
               .impl = one.point.impl->name,
               .params = one.point.params.canonical(),
               .forms = forms_text(one.point.specs, one.forms)},
              is_copy              ? 2
              : one.forms[0] == wp ? 1
                                   : in_cp);
  }
  return times;
}

LayoutPlan plan_by(const NodeTimes& times, const std::vector<Form>& outer = {cp, cp}) {
  const Chain chain = squares();
  return plan_layouts(chain, resolve(chain, {}), outer, DeviceInfo{}, PlanMode::Optimal, &times);
}

TEST(PlanByTime, CopiesWhereThatIsFaster) {
  EXPECT_THAT(names_of_steps(plan_by(times_of_squares(2.5))), testing::ElementsAre("one", "two"))
      << "5 us, not 6";
  EXPECT_THAT(names_of_steps(plan_by(times_of_squares(3.5))),
              testing::ElementsAre("x to buffer/WP", "one", "two", "c to buffer/CP"))
      << "6 us, not 7";
}

TEST(PlanByTime, TakesNoFormWithoutATime) {
  NodeTimes times("7", device_with("Acme"));
  const Chain chain = squares();
  const OpPoint square = point_of(resolve(chain, {}).nodes.front());
  const auto add = [&](const OpPoint& point, Form from, Form to) {
    times.add({.op = point.op->name,
               .impl = point.impl->name,
               .params = point.params.canonical(),
               .forms = forms_text(point.specs, std::vector<Form>{from, to})},
              1);
  };
  EXPECT_THAT(error_of([&] { plan_by(times); }),
              HasSubstr("node 'one': the report given as --times has no time of square"));
  add(square, wp, wp);
  EXPECT_THAT(names_of_steps(plan_by(times, {wp, wp})), testing::ElementsAre("one", "two"));
  EXPECT_THAT(
      error_of([&] { plan_by(times); }),
      HasSubstr("the tensor 'x' cannot be copied from buffer/CP to buffer/WP: the report given as --times "
                "has no time of that"));
  const OpPoint copy = *copy_of(chain, resolve(chain, {}).tensors.front().spec);
  add(copy, cp, wp);
  add(copy, wp, cp);
  EXPECT_EQ(plan_by(times).transitions, 2);
}

TEST(NodeTimesTest, AreFoundThoughTheReportIsOlderThanAChoiceOfTheOp) {
  NodeTimes times("7", device_with("Acme"));
  OpPoint square = point_of(resolve(squares(), {}).nodes.front());
  times.add({.op = "square",
             .impl = square.impl->name,
             .params = square.params.canonical(),
             .forms = "x=buffer/WP y=buffer/WP"},
            3);
  Op newer = *square.op;
  newer.params.push_back(choice("activation", {"none", "relu"}).derived([](const Params&) {
    return Value(std::string("none"));
  }));
  square.op = &newer;
  square.params.set("activation", std::string("none"));
  EXPECT_EQ(times.find(square, std::vector<Form>{wp, wp}), 3);
  square.params.set("activation", std::string("relu"));
  EXPECT_EQ(times.find(square, std::vector<Form>{wp, wp}), std::nullopt);
}

TEST(NodeTimesTest, KeepTheShortestOfEqualRows) {
  NodeTimes times("7", device_with("Acme"));
  const OpPoint square = point_of(resolve(squares(), {}).nodes.front());
  const NodeTimes::Row row{.op = "square",
                           .impl = square.impl->name,
                           .params = square.params.canonical(),
                           .forms = "x=buffer/WP y=buffer/WP"};
  times.add(row, 3);
  times.add(row, 2);
  times.add(row, 4);
  EXPECT_EQ(times.find(square, std::vector<Form>{wp, wp}), 2);
  EXPECT_EQ(times.find(square, std::vector<Form>{cp, cp}), std::nullopt);
}

TEST(NodeTimesTest, AreRefusedOnAnotherDeviceOrDriver) {
  const NodeTimes times("7", device_with("Acme"));
  EXPECT_EQ(times.refuse(device_with("Acme")), std::nullopt);
  EXPECT_THAT(times.refuse(device_with("Other")).value_or(""), HasSubstr("run 7 are of 'Acme GPU'"));
  DeviceInfo other = device_with("Acme");
  other.name = "Acme GPU 2";
  EXPECT_TRUE(times.refuse(other));
}

TEST(PointsToTime, LeaveOutFormsThatOnlyACopyKnows) {
  const Chain chain = squares();
  std::vector<std::string> points;
  for (const TimedPoint& one : points_to_time(chain, resolve(chain, {}), std::vector<Form>{cp, cp}))
    points.push_back(one.name + ": " + one.point.op->name + " " + forms_text(one.point.specs, one.forms));
  EXPECT_THAT(points, testing::IsSupersetOf(
                          {"one: square x=buffer/WP y=buffer/WP", "one: square x=buffer/CP y=buffer/CP",
                           "keep: clone x=buffer/WP y=buffer/CP", "x: clone x=buffer/CP y=buffer/WP",
                           "b: clone x=buffer/WP y=buffer/CP"}));
  EXPECT_THAT(points, testing::Each(testing::Not(HasSubstr("HP")))) << "no square takes it";
  EXPECT_THAT(points, testing::Not(testing::Contains("one: square x=buffer/WP y=buffer/CP")))
      << "no impl of it takes two forms";
}

class FastestImpl : public ::testing::Test {
 protected:
  FastestImpl() { chain_.file = "nets/squares.yaml"; }

  void plan_by(NodeTimes times) {
    chain_.times = std::make_shared<const NodeTimes>(std::move(times));
    op_ = op_of(chain_);
  }
  const Impl& fastest() const { return *op_.find_impl("fastest"); }
  BuildContext at() const { return {params_, tensors_, forms_, device_, tune_}; }
  std::string skipped_because() const { return fastest().skipped_reason(at()).value_or(""); }

  Chain chain_ = squares();
  Op op_ = op_of(chain_);
  DeviceInfo device_ = device_with("Acme");
  std::vector<Form> forms_{cp, cp};

 private:
  const Params params_;
  const Tune tune_;
  std::vector<TensorSpec> tensors_ = op_.tensors({});
};

const char* const measure_them = ": measure them with `assay run nets/squares.yaml --nodes --mode perf";

TEST_F(FastestImpl, IsPlannedByTimes) {
  plan_by(times_of_squares(3.5));
  EXPECT_EQ(skipped_because(), "");
  const Program program = fastest().build(at());
  ASSERT_TRUE(program.chain);
  EXPECT_EQ(program.chain->plan.transitions, 2);
  EXPECT_EQ(program.chain->times_run, "7");
  EXPECT_EQ(op_.definition, op_of(squares()).definition) << "how it is planned does not change its answers";
}

TEST_F(FastestImpl, IsSkippedWithTheCommandThatMakesItsTimes) {
  op_ = op_of(chain_);
  EXPECT_THAT(skipped_because(), HasSubstr(measure_them));
  EXPECT_FALSE(op_.find_impl("optimal")->skipped_reason);
}

TEST_F(FastestImpl, IsSkippedWhereANodeHasNoTime) {
  plan_by(NodeTimes("8", device_with("Acme")));
  EXPECT_THAT(skipped_because(), StartsWith("planning by the times of run 8: node 'one': "));
  EXPECT_THAT(skipped_because(), HasSubstr(measure_them));
  EXPECT_EQ(fastest().unsupported_reason(at()), std::nullopt) << "the device could run it";
}

TEST_F(FastestImpl, IsSkippedWhereACopyHasNoTime) {
  NodeTimes times("8", device_with("Acme"));
  const OpPoint square = point_of(resolve(chain_, {}).nodes.front());
  times.add({.op = square.op->name,
             .impl = square.impl->name,
             .params = square.params.canonical(),
             .forms = "x=buffer/WP y=buffer/WP"},
            1);
  plan_by(std::move(times));
  EXPECT_THAT(skipped_because(), HasSubstr("'x' cannot be copied from buffer/CP to buffer/WP"));
  EXPECT_THAT(skipped_because(), HasSubstr(measure_them));
  EXPECT_EQ(fastest().unsupported_reason(at()), std::nullopt);
}

TEST_F(FastestImpl, IsSkippedWithTimesOfAnotherDevice) {
  plan_by(times_of_squares(3.5));
  device_ = device_with("Other");
  EXPECT_THAT(skipped_because(), StartsWith("the times of run 7 are of 'Acme GPU'"));
}

}  // namespace

}  // namespace assay::chain
