#include "harness/report/console/time_left.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

RowInfo row(const char* mode) {
  RowInfo info;
  info.mode = mode;
  return info;
}

std::vector<RowInfo> rows(std::size_t accu, std::size_t perf) {
  std::vector<RowInfo> all(accu, row("accu"));
  all.insert(all.end(), perf, row("perf"));
  return all;
}

TEST(TimeLeft, CountsEachModeForItself) {
  TimeLeft left;
  left.plan(rows(4, 3), 100);
  left.ended(row("accu"), 101);
  left.ended(row("accu"), 101.5);
  left.ended(row("perf"), 111.5);
  EXPECT_EQ(left.seconds(), 2 * 0.75 + 2 * 10);
}

TEST(TimeLeft, RowsThatEndTogetherShareTheirTime) {
  TimeLeft left;
  left.plan(rows(0, 6), 0);
  for (int i = 0; i < 4; ++i) left.ended(row("perf"), 20);
  EXPECT_EQ(left.seconds(), 2 * 5.0);
}

TEST(TimeLeft, IsNotToldWhileAModeIsUnknown) {
  TimeLeft left;
  left.plan(rows(3, 1), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), std::nullopt) << "a timed row takes nobody knows how long";
  left.ended(row("perf"), 5);
  EXPECT_EQ(left.seconds(), 2.0);
}

TEST(TimeLeft, IsNotToldAtTheEnd) {
  TimeLeft left;
  left.plan(rows(1, 0), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), std::nullopt);
}

TEST(TimeLeft, BeginsAnewWithAPlan) {
  TimeLeft left;
  left.plan(rows(2, 0), 0);
  left.ended(row("accu"), 50);
  left.plan(rows(2, 0), 60);
  left.ended(row("accu"), 61);
  EXPECT_EQ(left.seconds(), 1.0);
}

}  // namespace
}  // namespace assay
