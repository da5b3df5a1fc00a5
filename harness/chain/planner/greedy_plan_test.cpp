#include "harness/chain/planner/greedy_plan.h"

#include "harness/chain/planner/net.h"
#include "harness/chain/planner/planner.h"
#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace assay::chain {
namespace {

using test::fan_out;
using test::given_tensor;
using test::impossible;
using test::residual;
using test::tied_choices;
using test::uniform_tensor;
using testing::ElementsAre;

TEST(GreedyPlan, SeesBothConsumersOfAResidual) {
  PlanProblem net = residual();
  net.tensors[3].wanted.reset();
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 0);
}

TEST(GreedyPlan, AvoidsImpossibleCopiesThatItSees) {
  PlanProblem problem = fan_out({2, 2});
  problem.tensors[1].copy_cost[0][2] = impossible;
  const Net net = checked_net(problem);
  EXPECT_THAT(greedy_choices(net), ElementsAre(1, 0, 0));
}

TEST(GreedyPlan, ACopyThatHasBeenMadeIsFree) {
  // Another node, or the outside, needs the copy to form 1 anyway: the choice for form 1 then saves 3.
  PlanProblem net{.tensors = {given_tensor(2, 10, 0), uniform_tensor(1, 0), uniform_tensor(1, 0)}};
  net.nodes = {{.inputs = {0}, .outputs = {1}, .choices = {{.forms = {1, 0}}}},
               {.inputs = {0}, .outputs = {2}, .choices = {{.forms = {0, 0}, .cost = 3}, {.forms = {1, 0}}}}};
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 10);
  net.tensors[0].wanted = 1;
  std::swap(net.nodes[0], net.nodes[1]);
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 10);
}

TEST(GreedyPlan, ACopyForTwoInputsOfANodeCountsOnce) {
  PlanProblem net{.tensors = {given_tensor(2, 10, 0), uniform_tensor(1, 0)}};
  net.nodes = {{.inputs = {0, 0},
                .outputs = {1},
                .choices = {{.forms = {0, 0, 0}, .cost = 15}, {.forms = {1, 1, 0}}}}};
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 10);
}

TEST(GreedyPlan, PaysForAConsumersFormLaterAndOptimalAtOnce) {
  // The first node's own cost decides for the sweep (0 < 1); every consumer then needs a copy.
  const PlanProblem net = fan_out({1});
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 10);
  EXPECT_EQ(make_plan(net, PlanMode::Optimal).cost, 4);
}

TEST(GreedyPlan, LeavesTheFormThatMostConsumersTake) {
  PlanProblem net = fan_out({1, 1, 0});
  net.tensors[1].copy_cost = uniform_tensor(3, 10).copy_cost;
  net.nodes[0].choices[1].cost = 0;
  EXPECT_THAT(make_plan(net, PlanMode::Greedy).choices, ElementsAre(1, 0, 0, 0));
}

/// A producer of any form, nodes that keep their input's form, and at the end one that insists on form 2.
PlanProblem views(std::size_t count) {
  PlanProblem net{.tensors = {given_tensor(1, 0, 0), uniform_tensor(3, 10)}};
  net.nodes.push_back(
      {.inputs = {0}, .outputs = {1}, .choices = {{.forms = {0, 0}}, {.forms = {0, 1}}, {.forms = {0, 2}}}});
  for (std::size_t i = 0; i < count; ++i) {
    net.nodes.push_back({.inputs = {i + 1}, .outputs = {i + 2}, .choices = tied_choices(2, 3)});
    net.tensors.push_back(uniform_tensor(3, 10));
  }
  net.nodes.push_back({.inputs = {count + 1}, .outputs = {count + 2}, .choices = {{.forms = {2, 0}}}});
  net.tensors.push_back(uniform_tensor(1, 0));
  return net;
}

TEST(GreedyPlan, LooksThroughNodesThatKeepTheirInputsForm) {
  EXPECT_EQ(make_plan(views(1), PlanMode::Greedy).cost, 0);
  EXPECT_EQ(make_plan(views(8), PlanMode::Greedy).cost, 0);
  EXPECT_EQ(make_plan(views(20), PlanMode::Optimal).cost, 0);
}

TEST(GreedyPlan, LooksAheadForABoundedDistance) {
  EXPECT_EQ(make_plan(views(9), PlanMode::Greedy).cost, 10);
}

TEST(GreedyPlan, AWantedFormIsLookedAtToo) {
  PlanProblem net = views(1);
  net.tensors[3].wanted = 0;
  net.nodes.pop_back();
  net.tensors.pop_back();
  net.tensors[2].wanted = 1;
  EXPECT_THAT(make_plan(net, PlanMode::Greedy).choices, ElementsAre(1, 1));
}

TEST(GreedyPlan, SeesTheFormsOfAConsumersOtherInputs) {
  // y = add(t, x): x is there in form 1, so t is best left in form 1.
  PlanProblem net{.tensors = {given_tensor(2, 10, 1), uniform_tensor(2, 10), uniform_tensor(2, 10)}};
  net.nodes = {{.inputs = {0}, .outputs = {1}, .choices = {{.forms = {1, 0}}, {.forms = {1, 1}}}},
               {.inputs = {1, 0}, .outputs = {2}, .choices = tied_choices(3, 2)}};
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 0);
}

}  // namespace
}  // namespace assay::chain
