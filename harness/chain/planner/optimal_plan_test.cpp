#include "harness/chain/planner/optimal_plan.h"

#include "harness/chain/planner/exact_choices.h"
#include "harness/chain/planner/greedy_plan.h"
#include "harness/chain/planner/net.h"
#include "harness/chain/planner/planner.h"
#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace assay::chain {
namespace {

using test::can_be_improved;
using test::given_tensor;
using test::impossible;
using test::tied_choices;
using test::uniform_tensor;
using testing::ElementsAre;
using Numbers = std::vector<std::size_t>;
using test::chain_of_three;
using test::complaint;
using test::fan_out;
using test::free_choices;
using test::price;
using test::random_net;
using testing::HasSubstr;
using Transition = Plan::Transition;

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
      return std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
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

}  // namespace

}  // namespace assay::chain
