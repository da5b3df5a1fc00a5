#include "harness/chain/planner/planner.h"

#include "harness/chain/planner/greedy_plan.h"
#include "harness/chain/planner/net.h"
#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay::chain {
namespace {

using test::chain_of_three;
using test::complaint;
using test::fan_out;
using test::given_tensor;
using test::impossible;
using test::random_net;
using test::residual;
using test::uniform_tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Transition = Plan::Transition;

TEST(Planner, NaiveTakesFirstChoicesAndCopiesBetweenThem) {
  const Plan plan = make_plan(chain_of_three(), PlanMode::Naive);
  EXPECT_THAT(plan.choices, ElementsAre(0, 0, 0));
  EXPECT_EQ(plan.cost, 40);
  EXPECT_EQ(plan.transitions, 4);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{0, 0, 1}, Transition{1, 1, 2}, Transition{2, 2, 1},
                                       Transition{3, 1, 0}));
}

TEST(Planner, OthersNeedNoCopiesWhereOneFormWillDo) {
  for (const PlanMode mode : {PlanMode::Greedy, PlanMode::Optimal}) {
    const Plan plan = make_plan(chain_of_three(), mode);
    EXPECT_EQ(plan.cost, 0);
    EXPECT_EQ(plan.transitions, 0);
    EXPECT_THAT(plan.copies, IsEmpty());
    EXPECT_THAT(plan.choices, ElementsAre(1, 1, 1));
    EXPECT_TRUE(plan.is_exact);
  }
}

TEST(Planner, ANetWithoutNodesCopiesWhatIsWantedInAnotherForm) {
  PlanProblem net{.tensors = {given_tensor(2, 7, 0), given_tensor(2, 5, 1)}};
  net.tensors[0].wanted = 1;
  net.tensors[1].wanted = 1;
  for (const PlanMode mode : {PlanMode::Naive, PlanMode::Greedy, PlanMode::Optimal}) {
    const Plan plan = make_plan(net, mode);
    EXPECT_EQ(plan.cost, 7);
    EXPECT_THAT(plan.copies, ElementsAre(Transition{0, 0, 1}));
  }
  EXPECT_EQ(make_plan({}, PlanMode::Optimal).cost, 0);
}

TEST(Planner, AResidualKeepsBothWaysInOneForm) {
  // One copy at the end (10) is cheaper than the slow form (25), or a copy on the way there and one back.
  const Plan plan = make_plan(residual(), PlanMode::Optimal);
  EXPECT_EQ(plan.cost, 10);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{3, 1, 0}));
  EXPECT_THAT(plan.choices, ElementsAre(1, 1, 1));
  EXPECT_EQ(make_plan(residual(), PlanMode::Naive).cost, 25);
}

TEST(Planner, ConsumersThatWantDifferentFormsNeedOneCopy) {
  const Plan plan = make_plan(fan_out({1, 0}), PlanMode::Optimal);
  EXPECT_EQ(plan.cost, 10);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{1, 0, 1}));
}

TEST(Planner, ACopyIsMadeOnceForAllItsConsumers) {
  for (const PlanMode mode : {PlanMode::Naive, PlanMode::Greedy, PlanMode::Optimal}) {
    const Plan plan = make_plan(fan_out({2, 2, 2}), mode);
    EXPECT_EQ(plan.cost, 10);
    EXPECT_EQ(plan.transitions, 1);
    EXPECT_THAT(plan.copies, ElementsAre(Transition{1, 0, 2}));
  }
}

TEST(Planner, EveryCopyIsMadeFromTheProducersForm) {
  PlanProblem net = fan_out({1, 2, 0});
  net.tensors[1].copy_cost = {{0, 50, 60}, {1, 0, 1}, {0, 0, 0}};
  const Plan plan = make_plan(net, PlanMode::Optimal);
  EXPECT_THAT(plan.choices, ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(plan.cost, 4 + 1 + 1);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{1, 1, 0}, Transition{1, 1, 2}));
  EXPECT_EQ(make_plan(net, PlanMode::Naive).cost, 50 + 60);
}

TEST(Planner, ATensorMayBeWantedAndConsumedInTheSameCopy) {
  PlanProblem net = fan_out({2, 2});
  net.tensors[1].wanted = 2;
  EXPECT_EQ(make_plan(net, PlanMode::Optimal).transitions, 1);
  net.tensors[1].wanted = 1;
  EXPECT_EQ(make_plan(net, PlanMode::Naive).transitions, 2);
}

TEST(Planner, ANodeMayReadATensorTwiceInTwoForms) {
  PlanProblem net{.tensors = {given_tensor(3, 10, 0), uniform_tensor(1, 0)}};
  net.nodes = {{.inputs = {0, 0}, .outputs = {1}, .choices = {{.forms = {1, 2, 0}}, {.forms = {1, 1, 0}}}}};
  EXPECT_EQ(make_plan(net, PlanMode::Naive).cost, 20);
  for (const PlanMode mode : {PlanMode::Greedy, PlanMode::Optimal}) {
    EXPECT_THAT(make_plan(net, mode).copies, ElementsAre(Transition{0, 0, 1}));
  }
}

TEST(Planner, ImpossibleCopiesAreAvoided) {
  PlanProblem net = fan_out({2, 2});
  net.tensors[1].copy_cost[0][2] = impossible;
  for (const PlanMode mode : {PlanMode::Greedy, PlanMode::Optimal}) {
    const Plan plan = make_plan(net, mode);
    EXPECT_EQ(plan.cost, 14);
    EXPECT_THAT(plan.choices, ElementsAre(1, 0, 0));
  }
}

TEST(Planner, ImpossibleChoicesAreAvoided) {
  PlanProblem net = chain_of_three();
  net.nodes[1].choices[1].cost = impossible;  // form 0 on both sides
  EXPECT_EQ(make_plan(net, PlanMode::Optimal).cost, 20);
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 20);
}

/// The sweep leaves form 0, since what comes after the next node is out of its sight; form 0 is then
/// impossible.
PlanProblem dead_end() {
  PlanProblem net{.tensors = {given_tensor(1, 0, 0), uniform_tensor(2, impossible),
                              uniform_tensor(2, impossible), uniform_tensor(1, 0)}};
  net.nodes = {
      {.inputs = {0}, .outputs = {1}, .choices = {{.forms = {0, 0}}, {.forms = {0, 1}, .cost = 1}}},
      {.inputs = {1}, .outputs = {2}, .choices = {{.forms = {0, 0}}, {.forms = {1, 0}}, {.forms = {1, 1}}}},
      {.inputs = {2}, .outputs = {3}, .choices = {{.forms = {1, 0}}}}};
  return net;
}

TEST(Planner, GreedyTakesTheOptimalPlanAtADeadEnd) {
  const PlanProblem net = dead_end();
  ASSERT_TRUE(std::isinf(plan_of(checked_net(net), greedy_choices(checked_net(net))).cost));
  const Plan plan = make_plan(net, PlanMode::Greedy);
  EXPECT_EQ(plan.cost, 1);
  EXPECT_EQ(plan.choices, make_plan(net, PlanMode::Optimal).choices);
}

TEST(Planner, TheSameProblemGivesTheSamePlan) {
  std::mt19937_64 random(9);
  std::mt19937_64 same_random(9);
  for (int i = 0; i < 50; ++i) {
    const PlanProblem net = random_net(random, {.most_nodes = 40, .most_choices = 6});
    const PlanProblem copy = random_net(same_random, {.most_nodes = 40, .most_choices = 6});
    for (const PlanMode mode : {PlanMode::Greedy, PlanMode::Optimal}) {
      const Plan plan = make_plan(net, mode);
      const Plan again = make_plan(copy, mode);
      ASSERT_EQ(plan.choices, again.choices);
      ASSERT_EQ(plan.copies, again.copies);
      ASSERT_EQ(plan.cost, again.cost);
    }
  }
}

TEST(Planner, RefusesNetsWithoutAFinitePlan) {
  PlanProblem net = fan_out({2});
  net.tensors[1].copy_cost[0][2] = impossible;
  EXPECT_EQ(complaint(net), "");
  EXPECT_THAT(complaint(net, PlanMode::Naive), HasSubstr("tensor 1 cannot be copied from form 0 to form 2"));
  net.tensors[1].copy_cost[1][2] = impossible;
  EXPECT_THAT(complaint(net), HasSubstr("there is no finite plan"));
  EXPECT_THAT(complaint(net, PlanMode::Greedy), HasSubstr("there is no finite plan"));
  net = fan_out({0});
  net.nodes[1].choices[0].cost = impossible;
  EXPECT_THAT(complaint(net), HasSubstr("choice 0 of node 1 is impossible"));
}

}  // namespace
}  // namespace assay::chain
