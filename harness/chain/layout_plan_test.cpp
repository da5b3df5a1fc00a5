#include "harness/chain/layout_plan.h"

#include "harness/chain/chain_program.h"
#include "harness/chain/chain_test_support.h"

#include <gmock/gmock.h>

namespace assay::chain {
namespace {

using testing::HasSubstr;
using namespace test;

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

}  // namespace
}  // namespace assay::chain
