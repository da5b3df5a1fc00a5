#include "harness/engine/supervision/supervisor_bench_test_support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

// The supervisor of one device's workers.

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Bench = test::SupervisorBench;
using Heard = test::JournalLines;
using test::FakeWorker;
using Ends = test::SupervisedEnds;

TEST(DeviceSupervisor, RunsAllRowsInOneWorker) {
  Bench bench(3);
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1, 2));
  for (const RowIndex row : {0, 1, 2}) bench.pass(row);
  bench.idle();
  EXPECT_TRUE(bench.is_told_to_stop());
  EXPECT_FALSE(bench.supervisor.is_over());
  bench.supervisor.ended({});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_EQ(bench.worker.started, 1);
  EXPECT_EQ(bench.heard.runs, 1);
  EXPECT_EQ(bench.heard.planned, 3U);
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 PASS", "2 PASS"));
}

TEST(DeviceSupervisor, RunsRowsAloneFirstThatMayBeWhatKillsTheRun) {
  SupervisionStart start;
  start.left.wanted = {true, true, true, true, false};
  start.alone = {1, 3, 4};
  start.rows_ahead = 4;
  Bench bench(5, start);
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  EXPECT_FALSE(std::get<RowsLeft>(bench.worker.sent.back()).may_prepare);
  bench.pass(1);
  bench.idle();
  EXPECT_THAT(bench.asked(), ElementsAre(3));
  bench.pass(3);
  bench.idle();
  EXPECT_THAT(bench.asked(), ElementsAre(0, 2)) << "row 4 has ended before";
  EXPECT_TRUE(std::get<RowsLeft>(bench.worker.sent.back()).may_prepare);
}

TEST(DeviceSupervisor, TakesALostDeviceAndATimeoutFromTheWorkersWords) {
  for (const Status status : {Status::DeviceLost, Status::Timeout}) {
    Bench bench(2);
    bench.begin(0);
    bench.end(0, status);
    bench.supervisor.ended({.exit_code = 3});
    bench.open();
    EXPECT_THAT(bench.asked(), ElementsAre(0));
    bench.begin(0);
    bench.end(0, status);
    bench.supervisor.ended({.exit_code = 3});
    EXPECT_THAT(bench.heard.ends, ElementsAre(fmt::format("0 {} REPRODUCED", name_of(status))));
    EXPECT_EQ(bench.heard.reasons.back(), "as it said");
  }
}

/// Rows 0 to 2 are timed together and end together: 0 and 2 were late, 1 was not. The worker leaves.
void lose_two_of_a_pool(Bench& bench) {
  for (const RowIndex row : {0, 1, 2}) bench.begin(row);
  bench.end(0, Status::Timeout);
  bench.end(1);
  bench.end(2, Status::Timeout);
  bench.supervisor.ended({.exit_code = 3});
}

/// The second try of `row` is lost as well.
void lose_again(Bench& bench, RowIndex row) {
  bench.begin(row);
  bench.end(row, Status::Timeout);
  bench.supervisor.ended({.exit_code = 3});
}

TEST(DeviceSupervisor, TakesTheEndsOfRowsThatWereTimedTogetherWithALateOne) {
  Bench bench(3);
  lose_two_of_a_pool(bench);
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 PASS"));
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0)) << "its second try";
  lose_again(bench, 0);
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(2)) << "and that of the other one";
  lose_again(bench, 2);
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_EQ(bench.worker.started, 3);
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 PASS", "0 TIMEOUT REPRODUCED", "2 TIMEOUT REPRODUCED"));
}

TEST(DeviceSupervisor, DropsEventsOfRowsThatRanAgainBeforeAnotherOneEvenAfterItsEnd) {
  Bench bench(3);
  lose_two_of_a_pool(bench);
  bench.open();
  bench.pass(0);  // alone
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1, 2));
  for (const RowIndex row : {0, 1, 2}) bench.begin(row);
  bench.end(0);
  bench.end(1);
  bench.end(2, Status::Timeout);
  bench.supervisor.ended({.exit_code = 3});
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 PASS", "0 FLAKY"));
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(2));
  lose_again(bench, 2);
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 PASS", "0 FLAKY", "2 TIMEOUT REPRODUCED"));
}

TEST(DeviceSupervisor, TriesEachOfSeveralLostRowsInAProcessOfItsOwn) {
  Bench bench(3);
  lose_two_of_a_pool(bench);
  bench.open();
  bench.begin(0);
  bench.end(0, Status::Fail);
  EXPECT_FALSE(bench.worker.is_killed);
  bench.idle();
  EXPECT_TRUE(bench.worker.is_killed);
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(2));
}

TEST(DeviceSupervisor, LeavesLostRowsAsTheyEndedWhenItIsStoppedBeforeTheirSecondTry) {
  Bench bench(4);
  lose_two_of_a_pool(bench);
  bench.open();
  bench.supervisor.stop();
  bench.supervisor.ended({.signal = SIGKILL});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("1 PASS", "0 TIMEOUT", "2 TIMEOUT", "3 MISSING"));
}

TEST(DeviceSupervisor, CountsSeveralLostRowsOfAWorkerAsOneFailure) {
  Bench bench(4);
  for (const RowIndex row : {0, 1, 2}) bench.begin(row);
  for (const RowIndex row : {0, 1, 2}) bench.end(row, Status::Timeout);
  bench.supervisor.ended({.exit_code = 3});
  EXPECT_FALSE(bench.supervisor.is_over());
  for (const RowIndex row : {0, 1, 2}) {
    bench.open();
    EXPECT_THAT(bench.asked(), ElementsAre(row));
    lose_again(bench, row);
  }
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(3));
}

/// `rows` run at the same time and end in this order, all of them late. The worker leaves.
void lose_together(Bench& bench, const std::vector<RowIndex>& rows) {
  for (const RowIndex row : rows) bench.begin(row);
  for (const RowIndex row : rows) bench.end(row, Status::Timeout);
  bench.supervisor.ended({.exit_code = 3});
}

/// `row` passes alone, so that the next worker is asked for it behind the others.
void pass_alone(Bench& bench, RowIndex row) {
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(row));
  bench.pass(row);
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
}

TEST(DeviceSupervisor, CountsSeveralRowsThatAreLostAfterARetriedOneAsNoMoreThanOneFailure) {
  for (const Status status : {Status::Timeout, Status::Pass}) {
    Bench bench(4);
    lose_together(bench, {0, 1, 2, 3});
    pass_alone(bench, 0);
    EXPECT_THAT(bench.asked(), ElementsAre(0, 1, 2, 3));
    for (const RowIndex row : {0, 1, 2, 3}) bench.begin(row);
    bench.end(0, status);
    for (const RowIndex row : {1, 2, 3}) bench.end(row, Status::Timeout);
    bench.supervisor.ended({.exit_code = 3});
    EXPECT_FALSE(bench.supervisor.is_over());
    EXPECT_THAT(bench.heard.ends,
                ElementsAre(status == Status::Pass ? "0 FLAKY" : "0 TIMEOUT ORDER_DEPENDENT"));
    bench.open();
    EXPECT_THAT(bench.asked(), ElementsAre(1));
  }
}

TEST(DeviceSupervisor, HearsTheEndOfARetriedRowAfterThatOfAnotherLostOne) {
  Bench bench(2);
  lose_together(bench, {0, 1});
  pass_alone(bench, 0);
  lose_together(bench, {0, 1});
  pass_alone(bench, 1);
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1));
  lose_together(bench, {0, 1});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 TIMEOUT ORDER_DEPENDENT", "1 TIMEOUT ORDER_DEPENDENT"));
}

TEST(DeviceSupervisor, CallsARetriedRowFlakyThatDoesNotEndAfterAnotherLostOne) {
  for (const int exit_code : {3, exit_connection_lost}) {
    Bench bench(3);
    bench.pass(0);
    bench.begin(1);
    bench.crash();
    pass_alone(bench, 1);
    EXPECT_THAT(bench.asked(), ElementsAre(0, 1));
    for (const RowIndex row : {0, 1}) bench.begin(row);
    bench.end(0, Status::DeviceLost);
    bench.end(1, Status::Missing);
    EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS"));
    bench.supervisor.ended({.exit_code = exit_code});
    EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 FLAKY"));
    bench.open();
    EXPECT_THAT(bench.asked(), ElementsAre(2)) << "and not behind the same others for ever";
  }
}

TEST(DeviceSupervisor, GivesADeviceUpThatFailsThreeTimesInARow) {
  Bench bench(5);
  for (const RowIndex row : {0, 1}) {
    bench.begin(row);
    bench.crash();
    bench.open();
    bench.begin(row);
    bench.crash();
    bench.open();
  }
  bench.begin(2);
  bench.crash();
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.supervisor.given_up(), HasSubstr("3 times in a row"));
  EXPECT_THAT(bench.heard.ends,
              ElementsAre("0 CRASH REPRODUCED", "1 CRASH REPRODUCED", "2 CRASH", "3 MISSING", "4 MISSING"));
}

TEST(DeviceSupervisor, CountsFailuresAnewAfterARowThatEnded) {
  Bench bench(7);
  for (const RowIndex row : {0, 2, 4}) {
    bench.begin(row);
    bench.crash();
    bench.open();
    bench.begin(row);
    bench.crash();
    bench.open();
    bench.pass(row + 1);
  }
  EXPECT_FALSE(bench.supervisor.is_over());
}

TEST(DeviceSupervisor, GivesADeviceUpWhoseWorkersDoNotEvenStart) {
  Bench bench(2);
  bench.pass(0);
  for (int i = 0; i < 3; ++i) bench.crash();
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 MISSING"));
}

TEST(DeviceSupervisor, TellsAHangByThePhase) {
  for (const Phase phase : {Phase::Compile, Phase::Dispatch, Phase::Reference}) {
    Bench bench(1);
    bench.begin(0);
    bench.supervisor.line(encode(WorkerEvent{PhaseEvent{phase, 4}}));
    bench.supervisor.time_passed(0);
    bench.supervisor.time_passed(3);
    EXPECT_FALSE(bench.worker.is_killed);
    bench.supervisor.time_passed(1.5);
    EXPECT_TRUE(bench.worker.is_killed);
    bench.supervisor.ended({.signal = SIGKILL});
    bench.open();
    bench.begin(0);
    bench.crash();
    EXPECT_THAT(bench.heard.ends, ElementsAre("0 TIMEOUT REPRODUCED"));
    EXPECT_THAT(bench.heard.reasons.back(), HasSubstr(std::string(story_of(phase))));
  }
}

TEST(DeviceSupervisor, HearsEveryLineAsASignOfLife) {
  Bench bench(2);
  for (int i = 0; i < 20; ++i) {
    bench.supervisor.line(encode(WorkerEvent{PhaseEvent{Phase::Host, 4}}));
    bench.supervisor.time_passed(3);
  }
  EXPECT_FALSE(bench.worker.is_killed);
}

TEST(DeviceSupervisor, DoesNotTakeAClockThatJumpsForAHang) {
  Bench bench(1);
  bench.begin(0);
  bench.supervisor.time_passed(1e6);   // the machine was asleep
  bench.supervisor.time_passed(-1e6);  // the machine's clock went back
  EXPECT_FALSE(bench.worker.is_killed);
  for (int i = 0; i < 100; ++i) bench.supervisor.time_passed(5);
  EXPECT_TRUE(bench.worker.is_killed) << "and then hangs after all";
}

TEST(DeviceSupervisor, LeavesAWorkerAloneThatEvenSigkillDoesNotEnd) {
  SupervisionStart start;
  start.limits.longest_s = 4;
  Bench bench(3, start);
  bench.pass(0);
  bench.begin(1);
  bench.supervisor.time_passed(0);
  bench.supervisor.time_passed(5);
  EXPECT_TRUE(bench.worker.is_killed);
  for (int i = 0; i < 4; ++i) bench.supervisor.time_passed(3);
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 TIMEOUT", "2 MISSING"));
  EXPECT_THAT(bench.supervisor.given_up(), HasSubstr("process 7"));
}

TEST(DeviceSupervisor, TakesALineThatIsNoEventForACrash) {
  Bench bench(1);
  bench.begin(0);
  bench.supervisor.line("\x1b[31mgarbage");
  EXPECT_TRUE(bench.worker.is_killed);
  bench.supervisor.line(
      R"({"event":"end","row":0,"status":"PASS"})");  // later lines of the killed worker do not count
  EXPECT_THAT(bench.heard.ends, IsEmpty());
  bench.supervisor.ended({.signal = SIGKILL});
  bench.open();
  bench.begin(0);
  bench.crash();
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH REPRODUCED"));
  EXPECT_THAT(bench.heard.reasons.back(), AllOf(HasSubstr("not an event"), HasSubstr("\\x1b")));
}

TEST(DeviceSupervisor, GivesALaterWorkerTheBlocksThatItLacks) {
  Bench bench(3);
  for (const RowIndex row : {0, 1}) {
    bench.begin(row);
    bench.judge(row, "abc");
  }
  bench.begin(0);
  bench.block(0, 0);
  bench.begin(1);
  bench.block(1, 0);
  bench.begin(2);
  bench.crash();
  bench.open();
  bench.begin(2);
  bench.crash();
  bench.open();
  EXPECT_THAT(bench.asked(), ElementsAre(0, 1));
  const auto& left = std::get<RowsLeft>(bench.worker.sent.back());
  ASSERT_THAT(left.progress, SizeIs(2));
  EXPECT_EQ(left.progress.at(0).output_hash, "abc");
  EXPECT_THAT(left.progress.at(1).blocks, SizeIs(1));
  bench.begin(0);
  bench.judge(0, "abc");
  bench.block(0, 1);
  bench.begin(1);
  bench.judge(1, "another");
  bench.crash();
  bench.open();
  const auto& later = std::get<RowsLeft>(bench.worker.sent.back());
  EXPECT_THAT(bench.asked(), ElementsAre(1));
  EXPECT_THAT(later.progress.at(1).blocks, IsEmpty()) << "of another answer";
}

TEST(DeviceSupervisor, LetsAWorkerWaitForItsTurnToTime) {
  Bench bench(1);
  bench.supervisor.line(encode(WorkerEvent{WorkerSignal::WantsToTime}));
  EXPECT_TRUE(bench.supervisor.wants_to_time());
  for (int i = 0; i < 1000; ++i) bench.supervisor.time_passed(5);
  EXPECT_FALSE(bench.worker.is_killed) << "it waits for others, and does not hang";
  bench.supervisor.may_time();
  EXPECT_TRUE(std::holds_alternative<TimeRequest>(bench.worker.sent.back()));
  EXPECT_TRUE(bench.supervisor.is_timing());
  bench.supervisor.line(encode(WorkerEvent{WorkerSignal::Timed}));
  EXPECT_FALSE(bench.supervisor.is_timing());
}

TEST(DeviceSupervisor, FreesTheTurnOfAWorkerThatCrashedInIt) {
  Bench bench(1);
  bench.supervisor.line(encode(WorkerEvent{WorkerSignal::WantsToTime}));
  bench.supervisor.may_time();
  bench.crash();
  EXPECT_FALSE(bench.supervisor.is_timing());
}

TEST(DeviceSupervisor, StopsBehindTheRowThatRuns) {
  Bench bench(3);
  bench.begin(0);
  bench.supervisor.stop();
  EXPECT_TRUE(bench.is_told_to_stop());
  bench.end(0);
  bench.idle();
  bench.supervisor.ended({});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 MISSING", "2 MISSING"));
}

TEST(DeviceSupervisor, RefusesWorkersThatPlanOtherRows) {
  Bench bench(2);
  bench.begin(0);
  bench.crash();
  bench.open("other");
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.supervisor.given_up(), HasSubstr("changed during the run"));
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 CRASH", "1 MISSING"));
}

TEST(DeviceSupervisor, TakesAPlanOfSeveralLinesAsOne) {
  Bench bench(300'000);
  EXPECT_EQ(bench.heard.planned, 300'000U);
  bench.begin(0);
  bench.crash();
  bench.open();
  EXPECT_EQ(bench.heard.planned, 300'000U) << "decoded once";
  EXPECT_EQ(bench.supervisor.given_up(), "");
  bench.begin(0);
  bench.crash();
  bench.open("other");
  EXPECT_THAT(bench.supervisor.given_up(), HasSubstr("changed during the run"));
}

TEST(DeviceSupervisor, RefusesWorkersWhoseInputsHaveChanged) {
  Bench bench(2);
  bench.begin(0);
  bench.crash();
  Heard lines;
  lines.run({.device = {.name = "mock", .uuid = "1"}, .inputs = {{"cases", "another"}}});
  bench.say(lines);
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.supervisor.given_up(), HasSubstr("changed during the run"));
}

TEST(DeviceSupervisor, DoesNotAskForEverForRowsThatAWorkerLeavesOut) {
  Bench bench(2);
  for (int i = 0; i < 3; ++i) {
    bench.idle();
    EXPECT_TRUE(bench.worker.is_killed);
    bench.supervisor.ended({.signal = SIGKILL});
    if (i < 2) bench.open();
  }
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 MISSING", "1 MISSING"));
}

TEST(DeviceSupervisor, GivesItsTurnBackWhateverEndsIt) {
  SupervisionStart start;
  start.limits.failures_in_a_row = 1;
  Bench bench(1, start);
  bench.begin(0);
  bench.supervisor.line(encode(WorkerEvent{WorkerSignal::WantsToTime}));
  bench.supervisor.may_time();
  bench.crash();
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_FALSE(bench.supervisor.is_timing());
  EXPECT_FALSE(bench.supervisor.wants_to_time());
}

TEST(DeviceSupervisor, LimitsAWorkerThatIsStoppedWhileItWaitsForItsTurn) {
  Bench bench(1);
  bench.begin(0);
  bench.supervisor.line(encode(WorkerEvent{WorkerSignal::WantsToTime}));
  bench.supervisor.stop();
  for (int i = 0; i < 200; ++i) bench.supervisor.time_passed(5);
  EXPECT_TRUE(bench.worker.is_killed);
}

TEST(DeviceSupervisor, DoesNotCountTimeBeforeAWordAsSilenceAfterIt) {
  SupervisionStart start;
  start.limits.longest_s = 1;
  Bench bench(1, start);
  bench.begin(0);
  bench.supervisor.time_passed(5);  // the supervisor was slow, not the worker
  EXPECT_FALSE(bench.worker.is_killed);
  bench.supervisor.time_passed(5);
  EXPECT_TRUE(bench.worker.is_killed);
}

TEST(DeviceSupervisor, TellsWhatTheFirstWorkerRefused) {
  FakeWorker worker;
  Ends heard;
  DeviceSupervisor supervisor(worker, heard, {});
  supervisor.begin();
  supervisor.line(encode(WorkerEvent{RefusedEvent{"no such device", 2}}));
  supervisor.ended({.exit_code = 2});
  EXPECT_TRUE(supervisor.is_over());
  EXPECT_EQ(supervisor.refusal().value().text, "no such device");
  EXPECT_EQ(supervisor.refusal().value().code, 2);
  EXPECT_THAT(heard.ends, IsEmpty());
}

TEST(DeviceSupervisor, BlamesNoRowIfItsWorkerCannotGoOn) {
  Bench bench(3);
  bench.pass(0);
  bench.begin(1);
  bench.supervisor.line(encode(WorkerEvent{CannotGoOnEvent{"the disk is full"}}));
  bench.supervisor.ended({.exit_code = 3});
  EXPECT_TRUE(bench.supervisor.is_over());
  EXPECT_EQ(bench.worker.started, 1) << "another worker could not go on either";
  EXPECT_THAT(bench.heard.ends, ElementsAre("0 PASS", "1 MISSING", "2 MISSING"));
  EXPECT_EQ(bench.heard.reasons.at(1), "not run: the disk is full");
  EXPECT_EQ(bench.supervisor.given_up(), "the disk is full");
}

TEST(DeviceSupervisor, RunsOnlyWhatAnEarlierRunHasLeft) {
  SupervisionStart start;
  start.left.wanted = {false, true, false};
  Bench bench(3, start);
  EXPECT_THAT(bench.asked(), ElementsAre(1));
}

TEST(DeviceSupervisor, RefusesToGoOnWithAnotherRun) {
  SupervisionStart start;
  start.left.wanted = {false, true, true};
  start.refuse_run = [](const RunInfo& run) { return std::optional("not on " + run.device.name); };
  Bench bench(3, start);
  bench.supervisor.ended({.signal = SIGKILL});
  EXPECT_EQ(bench.supervisor.refusal().value().text, "not on mock");
  EXPECT_THAT(bench.heard.ends, IsEmpty()) << "the journal keeps what it holds";
}

}  // namespace
}  // namespace assay
