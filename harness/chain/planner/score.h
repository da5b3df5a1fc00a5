#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace assay::chain {

/// A cost, and a rank among equal costs: fewer transitions first, then a smaller sum of the choices' numbers.
/// Scores add up, so the score of a plan is the sum of the scores of its parts.
struct Score {
  double cost = 0;
  std::int64_t rank = 0;  ///< transitions in the upper half, numbers of choices in the lower one

  Score& operator+=(const Score& other) {
    cost += other.cost;
    rank += other.rank;
    return *this;
  }
  bool operator<(const Score& other) const {
    return cost < other.cost || (cost == other.cost && rank < other.rank);
  }
};

inline constexpr Score impossible_score{.cost = std::numeric_limits<double>::infinity()};

inline Score score_of_copy(double cost) {
  return {.cost = cost, .rank = std::int64_t{1} << 32};
}

inline Score score_of_choice(double cost, std::size_t number) {
  return {.cost = cost, .rank = static_cast<std::int64_t>(number)};
}

}  // namespace assay::chain
