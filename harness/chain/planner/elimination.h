#pragma once

#include "harness/chain/planner/net.h"

#include <optional>
#include <vector>

namespace assay::chain {

/// A score for each combination of values of some variables.
struct Factor {
  std::vector<std::size_t> variables;  ///< ascending, each once
  std::vector<Score> table;            ///< the last variable's value changes fastest
};

struct FactorProblem {
  std::vector<std::size_t> domains;  ///< per variable, the number of its values
  std::vector<Factor> factors;
};

/// Limits of the tables over which an elimination minimizes.
struct EliminationLimits {
  double largest_table = 1 << 22;  ///< entries; a table takes at most 64 MiB
  double all_tables = 1 << 26;     ///< entries of all tables
};

/// Returns the order in which to eliminate the variables: the next one is always the one with the smallest
/// table, which covers it and those that it shares factors with. Nothing if the tables exceed the limits.
/// Reads no factor's table.
std::optional<std::vector<std::size_t>> elimination_order(const FactorProblem& problem,
                                                          const EliminationLimits& limits);

/// Returns the values of all variables for which the sum of all factors is the least, by bucket elimination
/// (Dechter, "Bucket elimination: a unifying framework for reasoning", 1999): variables are eliminated in
/// that order, each by replacing the factors that contain it with their minimum over it.
std::vector<std::size_t> least_sum(FactorProblem problem, const std::vector<std::size_t>& order);

}  // namespace assay::chain
