#include "harness/chain/planner/elimination.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace assay::chain {
namespace {

using Variables = std::vector<std::size_t>;

void insert_sorted(Variables& into, std::size_t variable) {
  const auto at = std::ranges::lower_bound(into, variable);
  if (at == into.end() || *at != variable) into.insert(at, variable);
}

void erase_sorted(Variables& from, std::size_t variable) {
  const auto at = std::ranges::lower_bound(from, variable);
  if (at != from.end() && *at == variable) from.erase(at);
}

/// Finds the order of elimination on the graph alone: variables are neighbours if a factor contains both.
class EliminationOrder {
 public:
  explicit EliminationOrder(const FactorProblem& problem)
      : domains_(problem.domains), neighbours_(domains_.size()), is_done_(domains_.size()) {
    for (const Factor& factor : problem.factors) {
      for (const std::size_t variable : factor.variables) connect(variable, factor.variables);
    }
    for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
      queue_.emplace(entries(variable), variable);
    }
  }

  std::optional<Variables> find(const EliminationLimits& limits) {
    Variables order;
    double sum = 0;
    while (order.size() < domains_.size()) {
      const auto [size, variable] = queue_.top();
      queue_.pop();
      if (is_done_[variable] || size != entries(variable)) continue;  // an entry from before a change
      sum += size;
      if (size > limits.largest_table || sum > limits.all_tables) return std::nullopt;
      order.push_back(variable);
      eliminate(variable);
    }
    return order;
  }

 private:
  void connect(std::size_t variable, const Variables& others) {
    for (const std::size_t other : others) {
      if (other != variable) insert_sorted(neighbours_[variable], other);
    }
  }

  /// Returns the entries of the table over the variable and its neighbours.
  double entries(std::size_t variable) const {
    auto product = static_cast<double>(domains_[variable]);
    for (const std::size_t neighbour : neighbours_[variable])
      product *= static_cast<double>(domains_[neighbour]);
    return product;
  }

  void eliminate(std::size_t variable) {
    is_done_[variable] = true;
    const Variables neighbours = std::exchange(neighbours_[variable], {});
    for (const std::size_t neighbour : neighbours) {
      erase_sorted(neighbours_[neighbour], variable);
      connect(neighbour, neighbours);
    }
    for (const std::size_t neighbour : neighbours) queue_.emplace(entries(neighbour), neighbour);
  }

  const Variables& domains_;
  std::vector<Variables> neighbours_;
  std::vector<bool> is_done_;
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

/// Walks through a factor's table along a variable, for one combination of the others after another.
class Cursor {
 public:
  Cursor(const Factor& factor, const Variables& others, std::size_t variable, const Variables& domains)
      : entry_(factor.table.data()), strides_(others.size()) {
    std::size_t stride = 1;
    for (std::size_t i = factor.variables.size(); i-- > 0;) {
      if (factor.variables[i] == variable) {
        step_ = stride;
      } else {
        strides_[std::ranges::lower_bound(others, factor.variables[i]) - others.begin()] = stride;
      }
      stride *= domains[factor.variables[i]];
    }
  }

  void add_to(std::vector<Score>& sums) const {
    const Score* entry = entry_;
    for (Score& sum : sums) {
      sum += *entry;
      entry += step_;
    }
  }
  void advance(std::size_t other) { entry_ += strides_[other]; }
  void rewind(std::size_t other, std::size_t by) { entry_ -= strides_[other] * by; }

 private:
  const Score* entry_;
  std::size_t step_ = 0;
  std::vector<std::size_t> strides_;
};

/// The best value of an eliminated variable for each combination of the variables that were its neighbours.
struct BestValues {
  Variables others;
  std::vector<std::uint32_t> values;
};

class Elimination {
 public:
  explicit Elimination(FactorProblem problem)
      : domains_(std::move(problem.domains)), buckets_(domains_.size()), best_(domains_.size()) {
    for (Factor& factor : problem.factors) add(std::move(factor));
  }

  void eliminate(std::size_t variable) {
    const std::vector<std::size_t> bucket = std::exchange(buckets_[variable], {});
    Factor message{.variables = others_in(bucket, variable)};
    std::vector<Cursor> cursors;
    for (const std::size_t factor : bucket) {
      if (!factors_[factor].table.empty()) {
        cursors.emplace_back(factors_[factor], message.variables, variable, domains_);
      }
    }
    minimize(cursors, variable, message);
    for (const std::size_t factor : bucket) factors_[factor] = {};
    add(std::move(message));
  }

  Variables values(const Variables& order) const {
    Variables values(domains_.size());
    for (std::size_t i = order.size(); i-- > 0;) {
      const BestValues& best = best_[order[i]];
      std::size_t index = 0;
      for (const std::size_t other : best.others) index = index * domains_[other] + values[other];
      values[order[i]] = best.values[index];
    }
    return values;
  }

 private:
  void add(Factor factor) {
    for (const std::size_t variable : factor.variables) buckets_[variable].push_back(factors_.size());
    factors_.push_back(std::move(factor));
  }

  Variables others_in(const std::vector<std::size_t>& bucket, std::size_t variable) const {
    Variables others;
    for (const std::size_t factor : bucket) {
      for (const std::size_t other : factors_[factor].variables) {
        if (other != variable) insert_sorted(others, other);
      }
    }
    return others;
  }

  /// Fills the message: for each combination of its variables, the least sum over the values of `variable`.
  void minimize(std::vector<Cursor>& cursors, std::size_t variable, Factor& message) {
    std::size_t combinations = 1;
    for (const std::size_t other : message.variables) combinations *= domains_[other];
    message.table.reserve(combinations);
    BestValues& best = best_[variable];
    best.others = message.variables;
    best.values.reserve(combinations);
    std::vector<Score> sums(domains_[variable]);
    Variables at(message.variables.size());
    for (std::size_t i = 0; i < combinations; ++i) {
      std::ranges::fill(sums, Score{});
      for (const Cursor& cursor : cursors) cursor.add_to(sums);
      const auto least = std::ranges::min_element(sums, std::less<>());
      message.table.push_back(*least);
      best.values.push_back(static_cast<std::uint32_t>(least - sums.begin()));
      move_on(cursors, message.variables, at);
    }
  }

  void move_on(std::vector<Cursor>& cursors, const Variables& variables, Variables& at) const {
    for (std::size_t i = variables.size(); i-- > 0;) {
      if (++at[i] < domains_[variables[i]]) {
        for (Cursor& cursor : cursors) cursor.advance(i);
        return;
      }
      at[i] = 0;
      for (Cursor& cursor : cursors) cursor.rewind(i, domains_[variables[i]] - 1);
    }
  }

  Variables domains_;
  std::vector<Factor> factors_;
  std::vector<std::vector<std::size_t>> buckets_;  ///< per variable, the factors that contain it
  std::vector<BestValues> best_;                   ///< per variable that has been eliminated
};

}  // namespace

std::optional<Variables> elimination_order(const FactorProblem& problem, const EliminationLimits& limits) {
  return EliminationOrder(problem).find(limits);
}

Variables least_sum(FactorProblem problem, const Variables& order) {
  Elimination elimination(std::move(problem));
  for (const std::size_t variable : order) elimination.eliminate(variable);
  return elimination.values(order);
}

}  // namespace assay::chain
