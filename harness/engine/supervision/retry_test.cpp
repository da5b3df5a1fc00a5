#include "harness/engine/supervision/supervisor_bench_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

// The second try of a row that cost a worker.

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Bench = test::SupervisorBench;
using Heard = test::JournalLines;

TEST(DeviceSupervisor, TriesARowThatCrashedOnceMoreAloneAndGoesOn) {
  Bench bench(4);
  bench.pass(0);
  bench.begin(1);
  bench.worker.words = "assert(x) failed\n";
  bench.crash();
  EXPECT_EQ(bench.worker.started, 2);
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  bench.begin(1);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(2, 3));
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 CRASH REPRODUCED"));
  EXPECT_THAT(bench.heard.reasons.back(), AllOf(HasSubstr("SIGSEGV"), HasSubstr("assert(x) failed")));
  EXPECT_EQ(bench.heard.planned, 4U) << "a plan is reported once";
  EXPECT_EQ(bench.heard.runs, 1);
}

TEST(DeviceSupervisor, CallsARowFlakyThatPassesWhereItCrashed) {
  Bench bench(2);
  bench.begin(0);
  bench.crash();
  bench.open();
  bench.pass(0);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 FLAKY"));
  bench.idle();
  EXPECT_THAT(bench.asked(), ElementsAre(1)) << "by the same worker";
  EXPECT_EQ(bench.worker.started, 2);
}

TEST(DeviceSupervisor, AFlakyRowKeepsWhatItsDriverDidOnlyWhenAskedAgain) {
  Bench bench(1);
  bench.begin(0);
  bench.crash();
  bench.open();
  bench.begin(0);
  Heard lines;
  lines.end(0, {.status = Status::Pass, .driver_retry = "asked twice"});
  bench.say(lines);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 FLAKY"));
  EXPECT_THAT(bench.heard.driver_retries, ElementsAre("asked twice"));
}

TEST(DeviceSupervisor, CallsARowOrderDependentThatCrashesOnlyBehindOthers) {
  Bench bench(3);
  bench.pass(0);
  bench.pass(1);
  bench.begin(2);
  bench.crash();
  bench.open();
  bench.pass(2);  // alone
  EXPECT_TRUE(bench.worker.is_killed);
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1, 2));
  const std::size_t begun = bench.heard.begun.size();
  bench.pass(0);
  bench.pass(1);
  bench.begin(2);
  EXPECT_THAT(bench.heard.begun, SizeIs(begun)) << "what has ended is not told again";
  bench.crash();
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 PASS", "2 CRASH ORDER_DEPENDENT"));
}

TEST(DeviceSupervisor, CallsARowFlakyThatCrashesNoSecondTimeBehindTheSameOthers) {
  Bench bench(2);
  bench.pass(0);
  bench.begin(1);
  bench.crash();
  bench.open();
  bench.pass(1);
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  bench.pass(0);
  bench.pass(1);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 FLAKY"));
  bench.idle();
  EXPECT_TRUE(bench.is_told_to_stop());
}

TEST(DeviceSupervisor, CallsARowReproducedThatFailsAloneInAnotherWay) {
  Bench bench(1);
  bench.begin(0);
  bench.crash();
  bench.open();
  bench.begin(0);
  bench.end(0, Status::Fail);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH REPRODUCED"));
  EXPECT_THAT(bench.heard.reasons.back(), HasSubstr("it was FAIL"));
}

SupervisionStart with_untried(std::map<RowIndex, RowEnd> untried, std::vector<bool> wanted) {
  SupervisionStart start;
  start.left.wanted = std::move(wanted);
  start.untried = std::move(untried);
  return start;
}

const RowEnd crashed{.status = Status::Crash, .reason = "it crashed last night"};

TEST(DeviceSupervisor, MakesTheSecondTryThatAnEarlierRunDidNotComeTo) {
  Bench bench(3, with_untried({{1, crashed}}, {false, false, true}));
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  bench.begin(1);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 CRASH REPRODUCED"));
  EXPECT_THAT(bench.heard.reasons.back(), HasSubstr("it crashed last night; tried once more: "));
  EXPECT_THAT(bench.asked(), ElementsAre(2)) << "then what is left";
}

TEST(DeviceSupervisor, CallsARowFlakyThatPassesWhereAnEarlierRunCrashed) {
  Bench bench(2, with_untried({{0, crashed}, {1, crashed}}, {false, false}));
  EXPECT_THAT(bench.asked(), ElementsAre(0));
  bench.pass(0);
  bench.idle();
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  bench.pass(1);
  bench.idle();
  EXPECT_TRUE(bench.is_told_to_stop());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 FLAKY", "1 FLAKY"));
}

TEST(DeviceSupervisor, LeavesARowAsItEndedWhenItIsStoppedBeforeTheSecondTryAgain) {
  Bench bench(2, with_untried({{0, crashed}, {1, crashed}}, {false, false}));
  bench.begin(0);
  bench.supervisor.stop();
  bench.supervisor.ended({.signal = SIGKILL});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH")) << "and not MISSING";
}

}  // namespace
}  // namespace assay
