#include "harness/chain/planner/elimination.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::chain {
namespace {

using Values = std::vector<std::size_t>;

Score sum_at(const FactorProblem& problem, const Values& values) {
  Score sum;
  for (const Factor& factor : problem.factors) {
    std::size_t index = 0;
    for (const std::size_t variable : factor.variables)
      index = index * problem.domains[variable] + values[variable];
    sum += factor.table.at(index);
  }
  return sum;
}

bool next_in(Values& values, const Values& domains) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (++values[i] < domains[i]) return true;
    values[i] = 0;
  }
  return false;
}

Score least_by_trial(const FactorProblem& problem) {
  Values values(problem.domains.size());
  Score least = impossible_score;
  do {
    least = std::min(least, sum_at(problem, values));
  } while (next_in(values, problem.domains));
  return least;
}

FactorProblem random_problem(std::mt19937_64& random) {
  FactorProblem problem;
  for (std::size_t i = 0; i < 7; ++i) problem.domains.push_back(1 + random() % 4);
  for (std::size_t i = 0; i < 9; ++i) {
    Factor factor;
    std::size_t entries = 1;
    for (std::size_t variable = 0; variable < problem.domains.size(); ++variable) {
      if (random() % 3 != 0) continue;
      factor.variables.push_back(variable);
      entries *= problem.domains[variable];
    }
    for (std::size_t entry = 0; entry < entries; ++entry) {
      factor.table.push_back(
          {.cost = static_cast<double>(random() % 10), .rank = static_cast<std::int64_t>(random() % 3)});
    }
    problem.factors.push_back(factor);
  }
  return problem;
}

Values solve(const FactorProblem& problem) {
  return least_sum(problem, elimination_order(problem, {}).value());
}

TEST(LeastSum, IsTheLeastOfAllCombinations) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const FactorProblem problem = random_problem(random);
    const Score sum = sum_at(problem, solve(problem));
    const Score least = least_by_trial(problem);
    ASSERT_EQ(sum.cost, least.cost) << i;
    ASSERT_EQ(sum.rank, least.rank) << i;
  }
}

TEST(LeastSum, GoesAroundImpossibleEntries) {
  const FactorProblem problem{
      .domains = {2, 2},
      .factors = {
          {.variables = {0, 1}, .table = {impossible_score, {.cost = 9}, impossible_score, {.cost = 7}}},
          {.variables = {0}, .table = {{.cost = 0}, {.cost = 3}}}}};
  EXPECT_EQ(solve(problem), (Values{0, 1}));
}

TEST(LeastSum, AVariableWithoutFactorsHasItsFirstValue) {
  EXPECT_EQ(solve({.domains = {3}, .factors = {}}), Values{0});
  EXPECT_EQ(solve({}), Values{});
}

/// Three variables that are all neighbours: the first table has 2 * 3 * 4 entries, the next ones 3 * 4 and 4.
FactorProblem triangle() {
  return {.domains = {2, 3, 4},
          .factors = {{.variables = {0, 1}, .table = std::vector<Score>(6)},
                      {.variables = {1, 2}, .table = std::vector<Score>(12)},
                      {.variables = {0, 2}, .table = std::vector<Score>(8)}}};
}

TEST(EliminationOrder, GivesUpWhereATableIsTooLarge) {
  EXPECT_TRUE(elimination_order(triangle(), {.largest_table = 24, .all_tables = 1000}));
  EXPECT_FALSE(elimination_order(triangle(), {.largest_table = 23, .all_tables = 1000}));
}

TEST(EliminationOrder, GivesUpWhereAllTablesAreTooLarge) {
  // After variable 0, both others have tables of 12 entries: 24 + 12 + 4 or 24 + 12 + 3. The first in order
  // goes first.
  EXPECT_TRUE(elimination_order(triangle(), {.largest_table = 1000, .all_tables = 40}));
  EXPECT_FALSE(elimination_order(triangle(), {.largest_table = 1000, .all_tables = 39}));
}

}  // namespace
}  // namespace assay::chain
