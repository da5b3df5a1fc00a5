#include "harness/engine/supervision/supervisor_bench_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

// Workers that are lost while they prepare rows before their turn.

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Bench = test::SupervisorBench;

/// A supervisor whose workers prepare rows ahead.
struct PreparingBench : Bench {
  explicit PreparingBench(std::size_t rows, std::size_t rows_ahead = 2)
      : Bench(rows, {.rows_ahead = rows_ahead}) {}

  bool may_prepare() const { return std::get<RowsLeft>(worker.sent.back()).may_prepare; }
  void lose_ahead() {
    supervisor.ended({.exit_code = exit_lost_ahead});
    open();
  }
};

TEST(PreparingAhead, AWorkerThatIsLostWithItCostsTheRunningRowNothing) {
  PreparingBench bench(6);
  EXPECT_TRUE(bench.may_prepare());
  bench.pass(0);
  bench.begin(1);
  bench.lose_ahead();
  EXPECT_EQ(bench.worker.started, 2);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS"));
  EXPECT_FALSE(bench.may_prepare());
  EXPECT_THAT(bench.asked(), ElementsAre(1, 2, 3)) << "itself and those that may have been prepared";
}

TEST(PreparingAhead, TheRowThatWasPreparedIsLostInItsOwnTurn) {
  PreparingBench bench(6);
  bench.begin(0);
  bench.lose_ahead();
  bench.pass(0);
  bench.begin(1);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  EXPECT_FALSE(bench.may_prepare()) << "a second try is of that row alone";
  bench.begin(1);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 CRASH REPRODUCED"));
  EXPECT_THAT(bench.asked(), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(bench.may_prepare()) << "whom to blame is known";
}

TEST(PreparingAhead, GoesOnWhereNoRowIsLostInItsTurn) {
  PreparingBench bench(6);
  bench.begin(0);
  bench.lose_ahead();
  for (const RowIndex row : {0, 1, 2}) bench.pass(row);
  bench.idle();
  EXPECT_EQ(bench.worker.started, 2) << "the same worker prepares again";
  EXPECT_THAT(bench.asked(), ElementsAre(3, 4, 5));
  EXPECT_TRUE(bench.may_prepare());
}

TEST(PreparingAhead, IsGivenUpWhereItLosesWorkersAndNoRowIsToBlame) {
  PreparingBench bench(9, 1);
  for (const RowIndex row : {0, 2}) {
    bench.begin(row);
    bench.lose_ahead();
    bench.pass(row);
    bench.pass(row + 1);
    bench.idle();
    EXPECT_TRUE(bench.may_prepare());
  }
  bench.begin(4);
  bench.lose_ahead();
  bench.pass(4);
  bench.pass(5);
  bench.idle();
  EXPECT_THAT(bench.asked(), ElementsAre(6, 7, 8));
  EXPECT_FALSE(bench.may_prepare());
  EXPECT_EQ(bench.supervisor.given_up(), "");
}

TEST(PreparingAhead, ACrashOfTheRowItselfIsTheRows) {
  PreparingBench bench(3);
  bench.begin(0);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0));
  bench.begin(0);
  bench.crash();
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH REPRODUCED"));
}

TEST(PreparingAhead, AHangIsNoRowsWhileTheWorkerWaitsForIt) {
  PreparingBench bench(4);
  bench.begin(0);
  bench.supervisor.line(encode(WorkerEvent{PhaseEvent{Phase::Ahead, 1}}));
  bench.supervisor.time_passed(0);
  bench.supervisor.time_passed(2);
  EXPECT_TRUE(bench.worker.is_killed);
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  EXPECT_THAT(bench.heard.ends, IsEmpty());
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace assay
