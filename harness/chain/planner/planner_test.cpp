#include "harness/chain/planner/planner.h"

#include "harness/chain/planner/exact_choices.h"
#include "harness/chain/planner/greedy_plan.h"
#include "harness/chain/planner/local_search.h"
#include "harness/chain/planner/node_variables.h"
#include "harness/chain/planner/optimal_plan.h"
#include "harness/chain/planner/plan_cost.h"
#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

namespace assay::chain {
namespace {

using test::free_choices;
using test::impossible;
using test::random_net;
using test::tied_choices;
using test::uniform_tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Transition = Plan::Transition;
using Numbers = std::vector<std::size_t>;

PlanProblem::Tensor given_tensor(std::size_t forms, double cost, std::size_t form) {
  PlanProblem::Tensor tensor = uniform_tensor(forms, cost);
  tensor.given = form;
  return tensor;
}

PlanProblem::Tensor wanted_tensor(std::size_t forms, double cost, std::size_t form) {
  PlanProblem::Tensor tensor = uniform_tensor(forms, cost);
  tensor.wanted = form;
  return tensor;
}

/// Tensors 0 to 3 with three nodes between them, which prefer form 1, 2, 1 and can take any one form on both
/// sides.
PlanProblem chain_of_three() {
  PlanProblem net{.tensors = {given_tensor(3, 10, 0), uniform_tensor(3, 10), uniform_tensor(3, 10),
                              wanted_tensor(3, 10, 0)}};
  for (const std::size_t preferred : {1U, 2U, 1U}) {
    PlanProblem::Node node{.inputs = {net.nodes.size()}, .outputs = {net.nodes.size() + 1}};
    node.choices = {{.forms = {preferred, preferred}}};
    for (const PlanProblem::Choice& choice : tied_choices(2, 3)) node.choices.push_back(choice);
    net.nodes.push_back(node);
  }
  return net;
}

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

/// x -> a -> t -> b -> u; add(u, t) -> y. The addition takes equal forms; b costs 25 in form 0.
PlanProblem residual() {
  PlanProblem net{.tensors = {given_tensor(2, 10, 0), uniform_tensor(2, 10), uniform_tensor(2, 10),
                              wanted_tensor(2, 10, 0)}};
  net.nodes = {{.inputs = {0}, .outputs = {1}, .choices = free_choices(2, 2)},
               {.inputs = {1}, .outputs = {2}, .choices = tied_choices(2, 2)},
               {.inputs = {2, 1}, .outputs = {3}, .choices = tied_choices(3, 2)}};
  net.nodes[1].choices[0].cost = 25;
  return net;
}

TEST(Planner, AResidualKeepsBothWaysInOneForm) {
  // One copy at the end (10) is cheaper than the slow form (25), or a copy on the way there and one back.
  const Plan plan = make_plan(residual(), PlanMode::Optimal);
  EXPECT_EQ(plan.cost, 10);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{3, 1, 0}));
  EXPECT_THAT(plan.choices, ElementsAre(1, 1, 1));
  EXPECT_EQ(make_plan(residual(), PlanMode::Naive).cost, 25);
}

TEST(GreedyPlan, SeesBothConsumersOfAResidual) {
  PlanProblem net = residual();
  net.tensors[3].wanted.reset();
  EXPECT_EQ(make_plan(net, PlanMode::Greedy).cost, 0);
}

/// One tensor whose producer leaves form 0 or 1, and consumers that each insist on a form.
PlanProblem fan_out(const Numbers& consumer_forms) {
  PlanProblem net{.tensors = {given_tensor(1, 0, 0), uniform_tensor(3, 10)}};
  net.nodes.push_back(
      {.inputs = {0}, .outputs = {1}, .choices = {{.forms = {0, 0}}, {.forms = {0, 1}, .cost = 4}}});
  for (const std::size_t form : consumer_forms) {
    net.nodes.push_back({.inputs = {1}, .outputs = {net.tensors.size()}, .choices = {{.forms = {form, 0}}}});
    net.tensors.push_back(uniform_tensor(1, 0));
  }
  return net;
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

TEST(OptimalPlan, OfEqualCostsTheFewestTransitionsWin) {
  PlanProblem net = fan_out({1});
  net.nodes[0].choices[1].cost = 10;
  const Plan plan = make_plan(net, PlanMode::Optimal);
  EXPECT_EQ(plan.cost, 10);
  EXPECT_EQ(plan.transitions, 0);
}

TEST(OptimalPlan, ThenTheEarliestChoicesWin) {
  PlanProblem net = chain_of_three();
  for (PlanProblem::Tensor& tensor : net.tensors) tensor.copy_cost = uniform_tensor(3, 0).copy_cost;
  net.nodes[1].choices = {{.forms = {1, 1}}, {.forms = {0, 0}}, {.forms = {0, 0}}};
  net.nodes[0].choices = {{.forms = {0, 0}}, {.forms = {1, 1}}};
  net.nodes[2].choices = {{.forms = {0, 0}}};
  EXPECT_THAT(make_plan(net, PlanMode::Optimal).choices, ElementsAre(0, 1, 0));
}

/// The price of choices, apart from the code under test.
double price(const PlanProblem& net, const Numbers& choices) {
  double sum = 0;
  std::vector<std::size_t> made(net.tensors.size());
  std::vector<std::set<std::size_t>> needed(net.tensors.size());
  for (std::size_t tensor = 0; tensor < net.tensors.size(); ++tensor) {
    if (net.tensors[tensor].given) made[tensor] = *net.tensors[tensor].given;
    if (net.tensors[tensor].wanted) needed[tensor].insert(*net.tensors[tensor].wanted);
  }
  for (std::size_t i = 0; i < net.nodes.size(); ++i) {
    const PlanProblem::Choice& choice = net.nodes[i].choices[choices[i]];
    sum += choice.cost;
    auto form = choice.forms.begin();
    for (const std::size_t tensor : net.nodes[i].inputs) needed[tensor].insert(*form++);
    for (const std::size_t tensor : net.nodes[i].outputs) made[tensor] = *form++;
  }
  for (std::size_t tensor = 0; tensor < net.tensors.size(); ++tensor) {
    needed[tensor].erase(made[tensor]);
    for (const std::size_t form : needed[tensor]) sum += net.tensors[tensor].copy_cost[made[tensor]][form];
  }
  return sum;
}

bool next_choices(Numbers& choices, const PlanProblem& net) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (++choices[i] < net.nodes[i].choices.size()) return true;
    choices[i] = 0;
  }
  return false;
}

double least_price(const PlanProblem& net) {
  Numbers choices(net.nodes.size());
  double least = impossible;
  do {
    least = std::min(least, price(net, choices));
  } while (next_choices(choices, net));
  return least;
}

std::string complaint(const PlanProblem& net, PlanMode mode = PlanMode::Optimal) try {
  make_plan(net, mode);
  return "";
} catch (const std::logic_error& error) {
  return error.what();
}

TEST(OptimalPlan, CostsTheLeastOfAllPlans) {
  std::mt19937_64 random(20260101);
  int impossible_nets = 0;
  for (int i = 0; i < 500; ++i) {
    const PlanProblem net = random_net(random, {.impossible_copies = i % 2 == 0 ? 0 : 0.3});
    const double least = least_price(net);
    if (std::isinf(least)) {
      ++impossible_nets;
      ASSERT_THAT(complaint(net), HasSubstr("there is no finite plan")) << i;
      continue;
    }
    const Plan plan = make_plan(net, PlanMode::Optimal);
    ASSERT_TRUE(plan.is_exact) << i;
    ASSERT_EQ(plan.cost, least) << i;
    ASSERT_EQ(price(net, plan.choices), least) << i;
  }
  EXPECT_GT(impossible_nets, 20);
  EXPECT_LT(impossible_nets, 200);
}

TEST(OptimalPlan, TiesAreBrokenAsDocumented) {
  std::mt19937_64 random(7);
  int ties = 0;
  for (int i = 0; i < 200; ++i) {
    const PlanProblem problem = random_net(random, {.most_nodes = 5, .most_choices = 3});
    const Net net = checked_net(problem);
    Numbers choices(problem.nodes.size());
    Plan best = plan_of(net, choices);
    while (next_choices(choices, problem)) {
      const Plan plan = plan_of(net, choices);
      if (plan.cost == best.cost) ++ties;
      if (is_better(plan, best)) best = plan;
    }
    const Plan plan = make_plan(problem, PlanMode::Optimal);
    const auto sum = [](const Numbers& numbers) {
      return std::accumulate(numbers.begin(), numbers.end(), 0U);
    };
    ASSERT_EQ(plan.cost, best.cost) << i;
    ASSERT_EQ(plan.transitions, best.transitions) << i;
    ASSERT_EQ(sum(plan.choices), sum(best.choices)) << i;
  }
  EXPECT_GT(ties, 100);
}

/// Returns whether the plan's members agree with its choices.
void expect_consistent(const PlanProblem& net, const Plan& plan) {
  EXPECT_EQ(plan.cost, price(net, plan.choices));
  EXPECT_EQ(plan.transitions, static_cast<int>(plan.copies.size()));
  EXPECT_TRUE(std::ranges::is_sorted(plan.copies, {},
                                     [](const Transition& copy) { return std::pair(copy.tensor, copy.to); }));
}

TEST(OptimalPlan, NeverCostsMoreThanTheOthers) {
  std::mt19937_64 random(3);
  int greedy_is_worse = 0;
  int greedy_is_better_than_naive = 0;
  int naive_is_better_than_greedy = 0;
  for (int i = 0; i < 1000; ++i) {
    const PlanProblem net = random_net(random, {.most_nodes = 40, .most_choices = 6});
    const Plan naive = make_plan(net, PlanMode::Naive);
    const Plan greedy = make_plan(net, PlanMode::Greedy);
    const Plan optimal = make_plan(net, PlanMode::Optimal);
    for (const Plan* plan : {&naive, &greedy, &optimal}) expect_consistent(net, *plan);
    ASSERT_LE(optimal.cost, greedy.cost) << i;
    ASSERT_LE(optimal.cost, naive.cost) << i;
    if (optimal.cost < greedy.cost) ++greedy_is_worse;
    if (greedy.cost < naive.cost) ++greedy_is_better_than_naive;
    if (naive.cost < greedy.cost) ++naive_is_better_than_greedy;
  }
  EXPECT_GT(greedy_is_worse, 100);
  EXPECT_GT(greedy_is_better_than_naive, 10 * naive_is_better_than_greedy);
}

/// Returns whether another choice of one node would cost less.
bool can_be_improved(const PlanProblem& net, const Plan& plan) {
  Numbers choices = plan.choices;
  for (std::size_t node = 0; node < choices.size(); ++node) {
    for (std::size_t number = 0; number < net.nodes[node].choices.size(); ++number) {
      choices[node] = number;
      if (price(net, choices) < plan.cost) return true;
    }
    choices[node] = plan.choices[node];
  }
  return false;
}

TEST(OptimalPlan, FallsBackWhereTablesWouldBeTooLarge) {
  std::mt19937_64 random(5);
  int improved = 0;
  for (int i = 0; i < 100; ++i) {
    const PlanProblem problem = random_net(random, {.most_nodes = 40, .most_choices = 6});
    const Net net = checked_net(problem);
    const std::vector<Plan> start{plan_of(net, Numbers(net.nodes())), plan_of(net, greedy_choices(net))};
    const Plan plan = optimal_plan(net, start, {.largest_table = 0});
    expect_consistent(problem, plan);
    EXPECT_FALSE(plan.is_exact);
    EXPECT_FALSE(can_be_improved(problem, plan)) << i;
    EXPECT_GE(plan.cost, make_plan(problem, PlanMode::Optimal).cost);
    EXPECT_LE(plan.cost, std::min(start[0].cost, start[1].cost));
    if (plan.cost < std::min(start[0].cost, start[1].cost)) ++improved;
  }
  EXPECT_GT(improved, 30);
}

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

/// Every node reads everything before it, in combinations of forms without a pattern.
PlanProblem tangle(std::size_t nodes) {
  std::mt19937_64 random(11);
  PlanProblem net{.tensors = {given_tensor(5, 10, 0)}};
  for (std::size_t i = 0; i < nodes; ++i) {
    PlanProblem::Node node{.outputs = {i + 1}};
    for (std::size_t input = 0; input <= i; ++input) node.inputs.push_back(input);
    for (int choice = 0; choice < 30; ++choice) {
      PlanProblem::Choice& made = node.choices.emplace_back();
      for (std::size_t slot = 0; slot < i + 2; ++slot) made.forms.push_back(random() % 5);
    }
    net.nodes.push_back(node);
    net.tensors.push_back(uniform_tensor(5, static_cast<double>(10 + i)));
  }
  return net;
}

TEST(OptimalPlan, ATangledNetIsSearched) {
  const PlanProblem net = tangle(16);
  const Plan plan = make_plan(net, PlanMode::Optimal);
  EXPECT_FALSE(plan.is_exact);
  EXPECT_LT(plan.cost, make_plan(net, PlanMode::Naive).cost);
  EXPECT_LE(plan.cost, make_plan(net, PlanMode::Greedy).cost);
  EXPECT_TRUE(make_plan(tangle(3), PlanMode::Optimal).is_exact);
}

TEST(OptimalPlan, ManyConsumersOfOneTensorArePlannedExactly) {
  // 20 consumers take any of 5 forms, at a cost that each has for all but one: copies of 10 for two forms pay
  // off, as nine consumers save 4 each there; a copy for the two consumers of a third form does not.
  PlanProblem net{.tensors = {given_tensor(5, 10, 0)}};
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t favourite = i < 9 ? 1 : i < 18 ? 2 : 3;
    PlanProblem::Node node{.inputs = {0}, .outputs = {i + 1}, .choices = tied_choices(2, 5)};
    for (PlanProblem::Choice& choice : node.choices) choice.cost = choice.forms[0] == favourite ? 0 : 4;
    net.nodes.push_back(node);
    net.tensors.push_back(uniform_tensor(5, 0));
  }
  const Plan plan = make_plan(net, PlanMode::Optimal);
  EXPECT_TRUE(plan.is_exact);
  EXPECT_EQ(plan.cost, 10 + 10 + 2 * 4);
  EXPECT_THAT(plan.copies, ElementsAre(Transition{0, 0, 1}, Transition{0, 0, 2}));
}

TEST(OptimalPlan, ManyConsumersOfManyFormsAreSearched) {
  PlanProblem net{.tensors = {given_tensor(1, 0, 0), uniform_tensor(14, 10)}};
  net.nodes.push_back({.inputs = {0}, .outputs = {1}, .choices = {}});
  for (std::size_t form = 0; form < 14; ++form) net.nodes[0].choices.push_back({.forms = {0, form}});
  for (std::size_t i = 0; i < 6; ++i) {
    net.nodes.push_back({.inputs = {1}, .outputs = {}, .choices = tied_choices(1, 14)});
    for (std::size_t form = 0; form < 9; ++form) net.nodes.back().choices[form].cost = 1;
  }
  const Plan plan = make_plan(net, PlanMode::Optimal);
  EXPECT_FALSE(plan.is_exact);
  EXPECT_EQ(plan.cost, 0);
}

TEST(OptimalPlan, ADenseBlockIsPlannedExactly) {
  // Every layer reads the concatenation of all tensors before it: sets of copied forms would make too large
  // tables.
  PlanProblem net{.tensors = {given_tensor(5, 10, 0)}};
  std::mt19937_64 random(2);
  std::vector<std::size_t> block{0};
  for (int layer = 0; layer < 7; ++layer) {
    const std::size_t concatenated = net.tensors.size();
    net.nodes.push_back(
        {.inputs = block, .outputs = {concatenated}, .choices = tied_choices(block.size() + 1, 5)});
    net.nodes.push_back(
        {.inputs = {concatenated}, .outputs = {concatenated + 1}, .choices = free_choices(2, 5)});
    for (int i = 0; i < 2; ++i)
      net.tensors.push_back(uniform_tensor(5, static_cast<double>(10 + random() % 30)));
    for (PlanProblem::Choice& choice : net.nodes.back().choices)
      choice.cost = static_cast<double>(random() % 50);
    block.push_back(concatenated + 1);
  }
  EXPECT_TRUE(make_plan(net, PlanMode::Optimal).is_exact);
}

TEST(OptimalPlan, OfChoicesWithTheSameFormsTheCheapestCounts) {
  // Few of the 4 ^ 6 combinations of forms are choices, and no form follows from another: the node has one
  // variable.
  std::mt19937_64 random(4);
  PlanProblem net{.tensors = {given_tensor(4, 0, 0)}};
  PlanProblem::Node node{.inputs = {0}, .outputs = {1, 2, 3, 4, 5}};
  net.tensors.resize(6, uniform_tensor(4, 0));
  for (int i = 0; i < 12; ++i) {
    PlanProblem::Choice& choice = node.choices.emplace_back(PlanProblem::Choice{.cost = 9});
    for (int slot = 0; slot < 6; ++slot) choice.forms.push_back(random() % 4);
  }
  node.choices.push_back({.forms = node.choices[3].forms, .cost = 5});
  std::vector<std::size_t> domains;
  ASSERT_EQ(node_variables(node, domains).variables.size(), 1U);
  ASSERT_EQ(domains.front(), 12U);
  net.nodes = {node};
  const Net checked = checked_net(net);
  EXPECT_EQ(exact_choices({.net = checked, .end = 1, .choices = {0}}, {}), Numbers{12});
}

TEST(OptimalPlan, AResidualNetIsPlannedExactly) {
  const PlanProblem net = test::residual_net(400);
  const Plan optimal = make_plan(net, PlanMode::Optimal);
  EXPECT_TRUE(optimal.is_exact);
  EXPECT_LT(optimal.cost, make_plan(net, PlanMode::Greedy).cost);
  EXPECT_LT(make_plan(net, PlanMode::Greedy).cost, make_plan(net, PlanMode::Naive).cost);
}

TEST(Planner, TheSameProblemGivesTheSamePlan) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 50; ++i) {
    const PlanProblem net = random_net(random, {.most_nodes = 40, .most_choices = 6});
    const PlanProblem copy = net;
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

/// The complaint about the chain of three after a change.
template <typename Change>
std::string complaint_after(const Change& change) {
  PlanProblem net = chain_of_three();
  change(net);
  return complaint(net, PlanMode::Naive);
}

TEST(PlanProblem, WrongCountsAreRefused) {
  EXPECT_EQ(complaint_after([](PlanProblem&) {}), "");
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[2].forms.pop_back(); }),
              HasSubstr("choice 2 of node 1 has 1 forms, but the node has 1 inputs and 1 outputs"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[2].choices.clear(); }),
              HasSubstr("node 2 has no choices"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[3].copy_cost[1].push_back(1); }),
              HasSubstr("tensor 3 has 3 forms, but 4 costs of copies from form 1"));
}

TEST(PlanProblem, IndicesOutOfRangeAreRefused) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[2].forms[1] = 3; }),
              HasSubstr("choice 2 of node 1 names form 3 of tensor 2, which has 3 forms"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].inputs[0] = 4; }),
              HasSubstr("node 1 names tensor 4, but there are 4 tensors"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[0].given = 3; }),
              HasSubstr("`given` names form 3 of tensor 0"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[3].wanted = 5; }),
              HasSubstr("`wanted` names form 5 of tensor 3"));
}

TEST(PlanProblem, ATensorHasOneProducerBeforeItsConsumers) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[0].given.reset(); }),
              HasSubstr("tensor 0 has no producer"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[2].given = 0; }),
              HasSubstr("tensor 2 has two producers: it is given, and an output of node 1"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[2].outputs[0] = 2; }),
              HasSubstr("tensor 2 has two producers: it is an output of node 1 and of node 2"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { std::swap(net.nodes[0], net.nodes[1]); }),
              HasSubstr("node 0 reads tensor 1, which node 1 produces"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].inputs[0] = 2; }),
              HasSubstr("node 1 reads tensor 2, which node 1 produces"));
}

TEST(PlanProblem, CostsThatAreNoNumbersFromZeroAreRefused) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[1].copy_cost[0][2] = -1; }),
              HasSubstr("a copy of tensor 1 from form 0 to 2 costs -1"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[1].cost = std::nan(""); }),
              HasSubstr("choice 1 of node 1 costs nan"));
}

}  // namespace
}  // namespace assay::chain
