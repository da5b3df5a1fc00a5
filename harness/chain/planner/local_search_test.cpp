#include "harness/chain/planner/local_search.h"

#include "harness/chain/planner/net.h"
#include "harness/chain/planner/plan_cost.h"
#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::chain {
namespace {

using test::can_be_improved;
using test::given_tensor;
using test::impossible;
using test::tied_choices;
using test::uniform_tensor;
using testing::ElementsAre;
using Numbers = std::vector<std::size_t>;

TEST(ImprovedPlan, MendsImpossibleCopiesOneByOne) {
  // First, tensors 0 and 1 need impossible copies. Node 0 can mend 0 alone; only then can node 1 mend 1, as
  // otherwise it needs an impossible copy of tensor 2.
  PlanProblem problem{.tensors = {given_tensor(2, impossible, 0), uniform_tensor(2, impossible),
                                  uniform_tensor(2, impossible)}};
  problem.tensors[2].copy_cost[1][0] = 1;
  problem.nodes = {
      {.inputs = {0}, .outputs = {1, 2}, .choices = {{.forms = {1, 0, 0}}, {.forms = {0, 0, 1}}}},
      {.inputs = {1, 2}, .outputs = {}, .choices = {{.forms = {1, 0}}, {.forms = {0, 1}}}}};
  const Net net = checked_net(problem);
  const Plan plan = improved_plan(net, plan_of(net, {0, 0}), {.largest_table = 0});
  EXPECT_EQ(plan.cost, 0);
  EXPECT_THAT(plan.choices, ElementsAre(1, 1));
}

/// Ten nodes that keep their input's form and cost 3 in form 0: one alone had better stay there, all should
/// change.
PlanProblem chain_that_changes_as_one() {
  PlanProblem net{.tensors = {given_tensor(2, 10, 0)}};
  for (std::size_t i = 0; i < 10; ++i) {
    net.nodes.push_back({.inputs = {i}, .outputs = {i + 1}, .choices = tied_choices(2, 2)});
    net.nodes.back().choices[0].cost = 3;
    net.tensors.push_back(uniform_tensor(2, 10));
  }
  net.tensors.back().wanted = 0;
  return net;
}

TEST(ImprovedPlan, ChangesConsecutiveNodesTogether) {
  const PlanProblem problem = chain_that_changes_as_one();
  const Net net = checked_net(problem);
  const Plan start = plan_of(net, Numbers(10));
  ASSERT_EQ(start.cost, 30);
  ASSERT_FALSE(can_be_improved(problem, start));
  EXPECT_EQ(improved_plan(net, start).cost, 20);
}

TEST(ImprovedPlan, LeavesTheOtherNodesOfALongNetAsTheyAre) {
  // A window sees the forms at its ends: with all 400 nodes in form 1, no window may go back to form 0.
  PlanProblem problem{.tensors = {given_tensor(2, 10, 1)}};
  for (std::size_t i = 0; i < 400; ++i) {
    problem.nodes.push_back({.inputs = {i}, .outputs = {i + 1}, .choices = tied_choices(2, 2)});
    problem.tensors.push_back(uniform_tensor(2, 10));
  }
  problem.tensors.back().wanted = 1;
  const Net net = checked_net(problem);
  const Plan plan = improved_plan(net, plan_of(net, Numbers(400, 1)));
  EXPECT_EQ(plan.cost, 0);
  EXPECT_EQ(plan.choices, Numbers(400, 1));
}

}  // namespace
}  // namespace assay::chain
