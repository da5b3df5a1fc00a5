#include "harness/engine/timing/cold_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace assay {
namespace {

std::vector<std::size_t> all_of(std::size_t sets) {
  std::vector<std::size_t> all(sets);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

TEST(ColdOrder, UsesEachSetOnceARoundInANewOrder) {
  std::mt19937_64 chance(1);
  ColdOrder order(100, chance);
  const std::vector<std::size_t> first = order.take(100);
  const std::vector<std::size_t> second = order.take(100);
  EXPECT_TRUE(std::ranges::is_permutation(first, all_of(100)));
  EXPECT_TRUE(std::ranges::is_permutation(second, all_of(100)));
  EXPECT_NE(first, second);
}

TEST(ColdOrder, LetsNoSetComeAgainBeforeSevenEighthsOfTheOthers) {
  for (const std::size_t sets : {1U, 2U, 3U, 9U, 17U, 101U, 1000U}) {
    std::mt19937_64 chance(sets);
    ColdOrder order(sets, chance);
    const std::vector<std::size_t> taken = order.take(20 * sets);
    std::map<std::size_t, std::size_t> last;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (last.contains(taken[i])) {
        EXPECT_GE(8 * (i - last.at(taken[i])), 7 * sets) << sets << " sets, program " << i;
      }
      last[taken[i]] = i;
    }
  }
}

TEST(ColdOrder, GoesOnWhereTheLastProgramsStopped) {
  std::mt19937_64 chance(1);
  ColdOrder order(10, chance);
  std::vector<std::size_t> taken = order.take(4);
  for (const std::size_t set : order.take(6)) taken.push_back(set);
  EXPECT_TRUE(std::ranges::is_permutation(taken, all_of(10)));
}

}  // namespace
}  // namespace assay
