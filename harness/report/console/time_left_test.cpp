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
  EXPECT_EQ(left.seconds(), std::nullopt) << "the duration of a timed row is unknown";
  left.ended(row("perf"), 5);
  EXPECT_EQ(left.seconds(), 2.0);
}

RowInfo timed(const char* id) {
  RowInfo info = row("perf");
  info.id = id;
  return info;
}

TEST(TimeLeft, FallsWithEachBlockWhileTimedRowsTakeTurns) {
  TimeLeft left;
  left.plan(rows(0, 2), 0);
  EXPECT_EQ(left.seconds(), std::nullopt);
  left.block(timed("a"), 2);
  EXPECT_EQ(left.taking_turns(), 1u);
  const double first = left.seconds().value();
  left.block(timed("b"), 4);
  EXPECT_EQ(left.taking_turns(), 2u);
  const double second = left.seconds().value();
  left.block(timed("a"), 6);
  EXPECT_LT(second, first);
  EXPECT_LT(left.seconds().value(), second);
  left.ended(timed("a"), 6);
  left.ended(timed("b"), 6);
  EXPECT_EQ(left.taking_turns(), 0u);
}

TEST(TimeLeft, TakesRowsThatHaveNotBegunForLikeThoseThatEnded) {
  TimeLeft left;
  left.plan(rows(0, 3), 0);
  for (int block = 1; block <= 6; ++block) left.block(timed("a"), block);
  left.ended(timed("a"), 6);
  left.block(timed("b"), 7);
  EXPECT_EQ(left.seconds(), 5.0 + 6.0) << "five blocks of b and six of another, a second each";
}

TEST(TimeLeft, NeverRises) {
  TimeLeft left;
  left.plan(rows(10, 0), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), 9.0);
  left.ended(row("accu"), 101);
  EXPECT_EQ(left.seconds(), 9.0) << "one row took long; the others need not";
  for (int i = 0; i < 7; ++i) left.ended(row("accu"), 101);
  EXPECT_EQ(left.seconds(), 9.0);
  left.ended(row("accu"), 101);
  EXPECT_EQ(left.seconds(), std::nullopt);
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
