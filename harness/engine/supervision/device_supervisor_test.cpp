#include "harness/engine/supervision/device_supervisor.h"

#include "harness/base/error.h"
#include "harness/engine/supervision/fake_worker_test_support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

// Tests the supervisor without processes and without a clock: the tests provide the worker's lines, its end
// and the time.

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using test::FakeWorker;
using Heard = test::JournalLines;

/// Collects how rows ended: "3 CRASH REPRODUCED".
struct Ends final : RunListener {
  void run(const RunInfo&) override { ++runs; }
  void plan(std::span<const RowInfo> rows) override { planned += rows.size(); }
  void begin(RowIndex row) override { begun.push_back(row); }
  void judged(RowIndex, const AccuracyResult&) override {}
  void block(RowIndex, const Block&) override { ++blocks; }
  void end(RowIndex row, const RowEnd& end) override {
    ends.push_back(
        fmt::format("{} {}{}{}", row, name_of(end.status), end.retry.empty() ? "" : " ", end.retry));
    reasons.push_back(end.reason);
    driver_retries.push_back(end.driver_retry);
  }
  void done() override {}

  int runs = 0;
  std::size_t planned = 0;
  std::vector<RowIndex> begun;
  int blocks = 0;
  std::vector<std::string> ends;
  std::vector<std::string> reasons;
  std::vector<std::string> driver_retries;
};

/// A supervisor of `rows` rows, and the lines that its worker may send.
struct Bench {
  explicit Bench(std::size_t rows, SupervisionStart start = {})
      : row_count(rows), supervisor(worker, heard, std::move(start)) {
    supervisor.begin();
    open();
  }

  void open(const std::string& prefix = "row") {
    Heard lines;
    lines.run({.device = {.name = "mock", .uuid = "1"}});
    std::vector<RowInfo> plan(row_count);
    for (std::size_t i = 0; i < row_count; ++i)
      plan[i] = {.id = fmt::format("{}/{}", prefix, i), .mode = "accu"};
    lines.plan(plan);
    say(lines);
  }
  void say(const Heard& lines) {
    for (const std::string& line : lines.lines) supervisor.line(line);
  }
  void begin(RowIndex row) {
    Heard lines;
    lines.begin(row);
    say(lines);
  }
  void judge(RowIndex row, const std::string& hash) {
    Heard lines;
    lines.judged(row, {.output_hash = hash});
    say(lines);
  }
  void block(RowIndex row, int round) {
    Heard lines;
    lines.block(row, {.round = round, .samples_ns = {1}});
    say(lines);
  }
  void end(RowIndex row, Status status = Status::Pass) {
    Heard lines;
    lines.end(row, {.status = status, .reason = status == Status::Pass ? "" : "as it said"});
    say(lines);
  }
  void pass(RowIndex row) {
    begin(row);
    end(row);
  }
  void idle() { supervisor.line(encode(WorkerEvent{WorkerSignal::Idle})); }
  void crash() { supervisor.ended({.signal = SIGSEGV}); }
  /// The rows of the last request.
  std::vector<RowIndex> asked() const {
    const auto& left = std::get<RowsLeft>(worker.sent.back());
    std::vector<RowIndex> rows;
    for (RowIndex row = 0; row < left.wanted.size(); ++row) {
      if (left.wanted[row]) rows.push_back(row);
    }
    return rows;
  }
  bool is_told_to_stop() const { return std::holds_alternative<StopRequest>(worker.sent.back()); }

  std::size_t row_count;
  FakeWorker worker;
  Ends heard;
  DeviceSupervisor supervisor;
};

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
  EXPECT_EQ(bench.heard.planned, 4U) << "a plan is told once";
  EXPECT_EQ(bench.heard.runs, 1);
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
