#include "harness/engine/supervision/supervisor_bench_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// Workers on other machines, to which the connection is lost.

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Bench = test::SupervisorBench;

/// The end of a worker on another machine to which the connection was lost.
constexpr ChildEnd connection_lost{.exit_code = exit_connection_lost};

TEST(DeviceSupervisor, AConnectionThatIsLostTwentyTimesCostsNoRow) {
  Bench bench(3);
  bench.pass(0);
  for (int i = 0; i < 20; ++i) {
    bench.begin(1);
    bench.supervisor.time_passed(1);
    bench.supervisor.ended(connection_lost);
    bench.open();
    EXPECT_THAT(bench.asked(), ElementsAre(1, 2)) << "not a second try of row 1 alone";
  }
  bench.pass(1);
  bench.pass(2);
  bench.idle();
  bench.supervisor.ended({});
  EXPECT_EQ(bench.worker.started, 21);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 PASS", "2 PASS"));
}

TEST(DeviceSupervisor, AConnectionThatIsLostLeavesBlocksAndASecondTryAsTheyWere) {
  Bench bench(2);
  bench.begin(0);
  bench.judge(0, "aa");
  bench.block(0, 0);
  bench.supervisor.ended(connection_lost);
  bench.open();
  EXPECT_THAT(std::get<RowsLeft>(bench.worker.sent.back()).progress.at(0).blocks, SizeIs(1));
  bench.begin(0);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0));
  bench.begin(0);
  bench.supervisor.ended(connection_lost);
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0)) << "its second try, again";
  bench.begin(0);
  bench.crash();
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH REPRODUCED"));
}

/// Loses the connection whenever row `row` has run for a while, until the supervisor no longer asks for it.
void lose_connection_in(Bench& bench, RowIndex row) {
  for (int i = 0; i < 500 && std::ranges::count(bench.asked(), row) > 0; ++i) {
    bench.begin(row);
    bench.supervisor.time_passed(0);  // after what was heard
    bench.supervisor.time_passed(4);
    bench.supervisor.ended(connection_lost);
    if (bench.supervisor.is_over()) return;
    bench.open();
  }
}

TEST(DeviceSupervisor, LeavesOutARowThatIsRunningWheneverTheConnectionIsLost) {
  Bench bench(3);
  lose_connection_in(bench, 0);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 MISSING"));
  EXPECT_THAT(bench.heard.reasons.back(),
              HasSubstr("the connection to the worker was lost 152 times in 604 s"));
  bench.pass(1);
  lose_connection_in(bench, 2);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 MISSING", "1 PASS", "2 MISSING"));
}

TEST(DeviceSupervisor, GivesUpADeviceWhoseConnectionLetsNoRowEnd) {
  Bench bench(5);
  for (const RowIndex row : {0, 1, 2}) lose_connection_in(bench, row);
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_EQ(bench.supervisor.given_up(), "the device failed 3 times in a row");
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 MISSING", "1 MISSING", "2 MISSING", "3 MISSING", "4 MISSING"));
}

TEST(DeviceSupervisor, StopsWhenTheConnectionIsLostAfterAStop) {
  Bench bench(2);
  bench.begin(0);
  bench.supervisor.stop();
  bench.supervisor.ended(connection_lost);
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 MISSING", "1 MISSING"));
}

}  // namespace
}  // namespace assay
