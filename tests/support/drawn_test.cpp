#include "tests/support/drawn.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace assay::test {
namespace {

std::set<int> checks_drawn_by(const std::string& draw) {
  std::set<int> drawn;
  for (int check = 0; check < 1000; ++check) {
    if (drawn_by(draw, "In/SeededFaults.AreSeen/" + std::to_string(check), 4)) drawn.insert(check);
  }
  return drawn;
}

TEST(Drawn, AllChecksAreMadeWithoutADraw) {
  EXPECT_EQ(checks_drawn_by("").size(), 1000U);
}

TEST(Drawn, EachCommitMakesAboutOneInFourAndOthers) {
  std::set<int> made;
  for (int commit = 0; commit < 32; ++commit) {
    const std::set<int> drawn = checks_drawn_by("commit " + std::to_string(commit));
    EXPECT_GT(drawn.size(), 190U);
    EXPECT_LT(drawn.size(), 310U);
    EXPECT_EQ(drawn, checks_drawn_by("commit " + std::to_string(commit)));
    made.insert(drawn.begin(), drawn.end());
  }
  EXPECT_GT(made.size(), 990U);  // 1 - 0.75^32 of all
}

}  // namespace
}  // namespace assay::test
