#include "harness/engine/supervision/device_workers.h"

#include "harness/engine/supervision/fake_worker_test_support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

// Tests several workers of one device without processes and without a clock: the tests provide each worker's
// lines and its end.

namespace assay {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

struct Hand final : test::FakeWorker {
  const OpenRequest& opened() const {
    const OpenRequest* last = nullptr;
    for (const WorkerRequest& request : sent) {
      if (const auto* open = std::get_if<OpenRequest>(&request)) last = open;
    }
    if (last == nullptr) throw Error("it was not opened");
    return *last;
  }
  /// The rows of the last request.
  std::vector<RowIndex> asked() const {
    std::vector<RowIndex> rows;
    const auto* left = std::get_if<RowsLeft>(&sent.back());
    for (RowIndex row = 0; left != nullptr && row < left->wanted.size(); ++row) {
      if (left->wanted[row]) rows.push_back(row);
    }
    return rows;
  }
  bool is_told_to_stop() const { return std::holds_alternative<StopRequest>(sent.back()); }
};

using Told = test::JournalLines;

/// Collects events in short: "begin 3", "3 CRASH REPRODUCED".
struct Journaled final : RunListener {
  void run(const RunInfo&) override { ++runs; }
  void plan(std::span<const RowInfo> rows) override { planned += rows.size(); }
  void begin(RowIndex row) override { begun.push_back(row); }
  void judged(RowIndex, const AccuracyResult&) override {}
  void block(RowIndex, const Block&) override {}
  void end(RowIndex row, const RowEnd& end) override {
    ends.push_back(
        fmt::format("{} {}{}{}", row, name_of(end.status), end.retry.empty() ? "" : " ", end.retry));
    reasons.push_back(end.reason);
    last = end;
  }
  void done() override {}

  int runs = 0;
  std::size_t planned = 0;
  std::vector<RowIndex> begun;
  std::vector<std::string> ends;
  std::vector<std::string> reasons;
  RowEnd last;
};

/// "aab|p" stands for four rows: two of mode accu in one group, one in another group, and a timed one.
std::vector<RowInfo> plan_like(const std::string& pattern) {
  std::vector<RowInfo> plan;
  for (const char letter : pattern) {
    const bool is_timed = letter == 'p';
    plan.push_back({.id = fmt::format("row/{}", plan.size()),
                    .group = std::string(1, letter),
                    .mode = is_timed ? "perf" : "accu"});
  }
  return plan;
}

/// A device with two workers.
struct Pair {
  explicit Pair(const std::string& pattern, DeviceWorkersStart start = {})
      : plan(plan_like(pattern)), workers({&hands[0], &hands[1]}, heard, std::move(start)) {
    for (const DeviceWorkers::Supervised& one : workers.supervised()) supervisors.push_back(one.supervisor);
    workers.begin();
    open(0);
    workers.go_on();
  }

  /// Supervisors 0 and 1 belong to the workers that run in parallel, 2 to the last phase.
  void open(std::size_t of, const std::string& driver = "") {
    Told lines;
    lines.run({.device = {.name = "cpu", .uuid = "1"}, .inputs = {{"cases", driver}}});
    lines.plan(plan);
    for (const std::string& line : lines.lines) supervisors[of]->line(line);
  }
  void begin(std::size_t of, RowIndex row) {
    Told lines;
    lines.begin(row);
    supervisors[of]->line(lines.lines[0]);
  }
  void end(std::size_t of, RowIndex row) {
    Told lines;
    lines.end(row, {.status = Status::Pass});
    supervisors[of]->line(lines.lines[0]);
  }
  void pass(std::size_t of, RowIndex row) {
    begin(of, row);
    end(of, row);
  }
  void idle(std::size_t of) { supervisors[of]->line(encode(WorkerEvent{WorkerSignal::Idle})); }
  void crash(std::size_t of) { supervisors[of]->ended({.signal = SIGSEGV}); }
  /// Runs all rows that a worker is given until it is stopped, and ends.
  void run_out(std::size_t of) {
    Hand& hand = hands[of % 2];
    while (!hand.is_told_to_stop()) {
      for (const RowIndex row : hand.asked()) pass(of, row);
      idle(of);
    }
    supervisors[of]->ended({});
    workers.go_on();
  }
  void stop() {
    for (DeviceSupervisor* supervisor : supervisors) supervisor->stop();
  }

  std::vector<RowInfo> plan;
  Hand hands[2];
  Journaled heard;
  DeviceWorkers workers;
  std::vector<DeviceSupervisor*> supervisors;
};

TEST(DeviceWorkers, RunRowsOfModeAccuSideBySideAndThenTimedOnesInOneAlone) {
  Pair pair("aabpcp");
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(0, 1)) << "a group stays together";
  EXPECT_EQ(pair.hands[1].started, 1) << "it begins when the plan is known";
  pair.open(1);
  EXPECT_THAT(pair.hands[1].asked(), ElementsAre(2));
  pair.begin(0, 0);
  pair.begin(1, 2);
  pair.end(0, 0);
  pair.pass(0, 1);
  pair.idle(0);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(4)) << "it takes what is left";
  pair.end(1, 2);
  pair.idle(1);
  EXPECT_TRUE(pair.hands[1].is_told_to_stop());
  pair.supervisors[1]->ended({});
  pair.workers.go_on();
  EXPECT_EQ(pair.hands[0].started, 1) << "one still runs a row of mode accu";
  pair.run_out(0);
  EXPECT_EQ(pair.hands[0].started, 2);
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(3, 5));
  for (const RowIndex row : {3, 5}) pair.pass(2, row);
  pair.idle(2);
  pair.supervisors[2]->ended({});
  pair.workers.go_on();
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_EQ(pair.heard.runs, 1);
  EXPECT_EQ(pair.heard.planned, 6U) << "a plan is reported once";
  EXPECT_THAT(pair.heard.ends,
              UnorderedElementsAre("0 PASS", "1 PASS", "2 PASS", "3 PASS", "4 PASS", "5 PASS"));
}

TEST(DeviceWorkers, TellThreadsToShareTheCpuOnlyWhileTheyRunSideBySide) {
  DeviceWorkersStart start;
  start.supervision.open.jobs = 6;
  start.jobs_side_by_side = 3;
  Pair pair("abp", start);
  EXPECT_EQ(pair.hands[0].opened().jobs, 3);
  EXPECT_EQ(pair.hands[1].opened().jobs, 3);
  pair.open(1);
  pair.run_out(1);
  pair.run_out(0);
  EXPECT_EQ(pair.hands[0].opened().jobs, 6);
}

TEST(DeviceWorkers, AreOverWithoutALastPhaseWhereNothingIsTimed) {
  Pair pair("ab");
  pair.open(1);
  pair.run_out(0);
  pair.run_out(1);
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_EQ(pair.hands[0].started, 1);
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 PASS"));
}

TEST(DeviceWorkers, TryARowOfOneWorkerOnceMoreWhileTheOtherGoesOn) {
  Pair pair("abcd");
  pair.open(1);
  pair.begin(0, 0);
  pair.begin(1, 1);
  pair.crash(0);
  EXPECT_EQ(pair.hands[0].started, 2);
  EXPECT_FALSE(pair.hands[1].is_killed);
  pair.open(0);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(0)) << "alone in a new process";
  pair.end(1, 1);
  pair.begin(0, 0);
  pair.crash(0);
  pair.open(0);
  pair.run_out(0);
  pair.idle(1);
  pair.run_out(1);
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 CRASH REPRODUCED", "1 PASS", "2 PASS", "3 PASS"));
}

/// The worker crashes in three of its rows, and in two of these again when they are tried once more, and is
/// given up.
void crash_for_good(Pair& pair, std::size_t of) {
  for (int i = 0; i < 5; ++i) {
    pair.begin(of, pair.hands[of].asked().front());
    pair.crash(of);
    if (!pair.supervisors[of]->is_over()) pair.open(of);
  }
}

TEST(DeviceWorkers, LeaveTheRowsOfOneThatIsGivenUpToTheOthers) {
  Pair pair("aaaaabp");
  pair.open(1);
  crash_for_good(pair, 0);
  EXPECT_TRUE(pair.supervisors[0]->is_over());
  EXPECT_THAT(pair.heard.ends, ElementsAre("0 CRASH REPRODUCED", "1 CRASH REPRODUCED", "2 CRASH"));
  pair.run_out(1);
  EXPECT_THAT(pair.heard.ends, AllOf(Contains("3 PASS"), Contains("4 PASS"), Contains("5 PASS")));
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(6)) << "the device is not given up";
}

TEST(DeviceWorkers, BeginAgainForTheRowsOfOneThatIsGivenUpAfterTheyHadLeft) {
  Pair pair("aaaaabp");
  pair.open(1);
  pair.run_out(1);
  EXPECT_TRUE(pair.supervisors[1]->is_over());
  crash_for_good(pair, 0);
  pair.workers.go_on();
  EXPECT_EQ(pair.hands[1].started, 2);
  pair.open(1);
  pair.run_out(1);
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 CRASH REPRODUCED", "1 CRASH REPRODUCED", "2 CRASH",
                                                    "3 PASS", "4 PASS", "5 PASS"));
  EXPECT_EQ(pair.heard.runs, 1);
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(6)) << "the device is not given up";
}

TEST(DeviceWorkers, BeginAgainInTheFirstThatHadLeft) {
  Pair pair("abbbbbp");
  pair.open(1);
  pair.run_out(0);
  crash_for_good(pair, 1);
  pair.workers.go_on();
  EXPECT_EQ(pair.hands[0].started, 2);
  pair.open(0);
  pair.run_out(0);
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 CRASH REPRODUCED", "2 CRASH REPRODUCED",
                                                    "3 CRASH", "4 PASS", "5 PASS"));
}

TEST(DeviceWorkers, DoNotBeginAgainThatAreGivenUp) {
  Pair pair("aaaaaaabp");
  pair.open(1);
  pair.run_out(1);
  crash_for_good(pair, 0);
  pair.workers.go_on();
  pair.open(1);
  crash_for_good(pair, 1);
  const int started[] = {pair.hands[0].started, pair.hands[1].started};
  pair.workers.go_on();
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_THAT(started, ElementsAre(pair.hands[0].started, pair.hands[1].started));
  EXPECT_THAT(pair.heard.ends, AllOf(SizeIs(9), Contains("6 MISSING"), Contains("8 MISSING")));
}

TEST(DeviceWorkers, DoNotBeginAgainAfterAStop) {
  Pair pair("aab");
  pair.open(1);
  pair.run_out(1);
  pair.begin(0, 0);
  pair.stop();
  pair.end(0, 0);
  pair.supervisors[0]->ended({});
  pair.workers.go_on();
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_EQ(pair.hands[1].started, 1);
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 MISSING", "2 PASS"));
}

/// The worker loses its connection whenever it runs `row`, until it no longer asks for it.
void lose_connection_in(Pair& pair, std::size_t of, RowIndex row) {
  for (int i = 0; i < 1000 && !pair.supervisors[of]->is_over(); ++i) {
    pair.begin(of, row);
    pair.supervisors[of]->time_passed(0);  // after what was heard
    pair.supervisors[of]->time_passed(4);
    pair.supervisors[of]->ended({.exit_code = exit_connection_lost});
    if (!pair.supervisors[of]->is_over()) pair.open(of);
  }
  pair.workers.go_on();
}

TEST(DeviceWorkers, LeaveARowOutForGoodThatIsRunningWheneverTheConnectionIsLost) {
  Pair pair("abp");
  pair.open(1);
  pair.run_out(1);
  lose_connection_in(pair, 0, 0);
  EXPECT_EQ(pair.supervisors[0]->given_up(), "");
  EXPECT_EQ(pair.hands[1].started, 1) << "another worker would lose its connection as well";
  EXPECT_THAT(pair.heard.ends, ElementsAre("1 PASS", "0 MISSING"));
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(2)) << "the device is not given up";
}

TEST(DeviceWorkers, GiveTheDeviceUpWhenAllAreGivenUp) {
  Pair pair("aaaabbbbcp");
  pair.open(1);
  crash_for_good(pair, 0);
  crash_for_good(pair, 1);
  pair.workers.go_on();
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_THAT(pair.heard.ends, SizeIs(10)) << "one end a row";
  for (const int row : {3, 7, 8, 9}) EXPECT_THAT(pair.heard.ends, Contains(fmt::format("{} MISSING", row)));
  EXPECT_THAT(pair.heard.reasons.back(), HasSubstr("3 times in a row"));
  EXPECT_FALSE(pair.heard.last.stopped);
}

TEST(DeviceWorkers, StopBehindTheRowsThatRun) {
  Pair pair("abcdefp");
  pair.open(1);
  pair.begin(0, 0);
  pair.begin(1, 1);
  pair.stop();
  EXPECT_TRUE(pair.hands[0].is_told_to_stop() && pair.hands[1].is_told_to_stop());
  pair.end(0, 0);
  pair.end(1, 1);
  for (const std::size_t of : {0U, 1U}) pair.supervisors[of]->ended({});
  pair.workers.go_on();
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 PASS", "2 MISSING", "3 MISSING", "4 MISSING",
                                                    "5 MISSING", "6 MISSING"));
  EXPECT_THAT(pair.heard.reasons.back(), HasSubstr(std::string(stopped_because)));
  EXPECT_TRUE(pair.heard.last.stopped);
}

TEST(DeviceWorkers, StopBeforeTheTimedRowsHaveAPlan) {
  Pair pair("abp");
  pair.open(1);
  pair.run_out(0);
  pair.run_out(1);
  pair.stop();  // the last worker opens the device
  pair.supervisors[2]->ended({.signal = SIGKILL});
  EXPECT_TRUE(pair.workers.is_over());
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 PASS", "2 MISSING"));
}

TEST(DeviceWorkers, RefuseOneThatHasOtherInputs) {
  Pair pair("abcd");
  pair.open(1, "another");
  EXPECT_TRUE(pair.supervisors[1]->is_over());
  EXPECT_THAT(pair.supervisors[1]->given_up(), HasSubstr("changed during the run"));
  pair.run_out(0);
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 PASS", "1 PASS", "2 PASS", "3 PASS"));
}

TEST(DeviceWorkers, RunOnlyWhatAnEarlierRunHasLeft) {
  DeviceWorkersStart start;
  start.supervision.left.wanted = {false, true, true, true, false, true};
  start.supervision.left.progress[5] = {"abc", {Block{.round = 0, .samples_ns = {1}}}};
  start.supervision.untried = {{0, {.status = Status::Crash, .reason = "it crashed last night"}}};
  start.suspected = {1, 3};
  Pair pair("abcdpp", start);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(1, 3)) << "one of them may be what kills the run";
  pair.open(1);
  EXPECT_THAT(pair.hands[1].asked(), ElementsAre(2));
  pair.run_out(1);
  pair.run_out(0);
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(0)) << "the second try that was not made";
  pair.begin(2, 0);
  pair.crash(2);
  pair.open(2);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(5));
  EXPECT_THAT(std::get<RowsLeft>(pair.hands[0].sent.back()).progress, SizeIs(1));
  EXPECT_THAT(pair.heard.ends, UnorderedElementsAre("0 CRASH REPRODUCED", "1 PASS", "2 PASS", "3 PASS"));
}

TEST(DeviceWorkers, BeginNoOtherWorkerWhileARowRunsAlone) {
  DeviceWorkersStart start;
  start.supervision.left.wanted = {true, true, true, true, true};
  start.supervision.alone = {1, 2, 4};
  start.suspected = {3};
  Pair pair("abcdp", start);
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(1));
  EXPECT_EQ(pair.hands[1].started, 0);
  pair.begin(0, 1);
  pair.end(0, 1);
  pair.idle(0);
  pair.workers.go_on();
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(2));
  EXPECT_EQ(pair.hands[1].started, 0);
  pair.begin(0, 2);
  pair.end(0, 2);
  pair.idle(0);
  pair.workers.go_on();
  EXPECT_THAT(pair.hands[0].asked(), ElementsAre(3)) << "then what was running at one kill";
  EXPECT_EQ(pair.hands[1].started, 1);
}

TEST(DeviceWorkers, TellWhatTheFirstRefused) {
  Hand hands[2];
  Journaled heard;
  DeviceWorkers workers({&hands[0], &hands[1]}, heard, {});
  workers.begin();
  DeviceSupervisor& first = *workers.supervised().front().supervisor;
  first.line(encode(WorkerEvent{RefusedEvent{"no such device", 2}}));
  first.ended({.exit_code = 2});
  workers.go_on();
  EXPECT_TRUE(workers.is_over());
  EXPECT_EQ(workers.refusal().value().text, "no such device");
  EXPECT_EQ(hands[1].started, 0);
  EXPECT_THAT(heard.ends, IsEmpty());
}

TEST(DeviceWorkers, RunAllRowsInTheirOrderWhereThereIsOne) {
  Hand hand;
  Journaled heard;
  DeviceWorkers workers({&hand}, heard, {});
  EXPECT_THAT(workers.supervised(), SizeIs(1));
  workers.begin();
  Told lines;
  lines.run({.device = {.name = "gpu"}});
  lines.plan(plan_like("apb"));
  for (const std::string& line : lines.lines) workers.supervised().front().supervisor->line(line);
  workers.go_on();
  EXPECT_THAT(hand.asked(), ElementsAre(0, 1, 2));
}

using ::testing::Key;

/// Rows of mode accu, `in_group` of each group.
std::vector<RowInfo> accuracy_rows(std::size_t groups, std::size_t in_group) {
  std::vector<RowInfo> rows;
  for (std::size_t row = 0; row < groups * in_group; ++row)
    rows.push_back({.id = std::to_string(row), .group = std::to_string(row / in_group), .mode = "accu"});
  return rows;
}

TEST(SharedRows, AreTakenEachOnceInGroupsAndInOrder) {
  SharedRows shared(2);
  shared.add(accuracy_rows(50, 3), {}, {});
  std::vector<RowIndex> all;
  std::size_t takes = 0;
  std::size_t largest = 0;
  for (std::vector<RowIndex> rows = shared.take(); !rows.empty(); rows = shared.take(), ++takes) {
    EXPECT_EQ(rows.size() % 3, 0U) << "a group was divided";
    largest = std::max(largest, rows.size());
    all.insert(all.end(), rows.begin(), rows.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(all.size(), 150U);
  EXPECT_EQ(largest, 50U / 8 * 3);
  EXPECT_LT(takes, 30U) << "workers wait each time that they ask";
}

TEST(SharedRows, AreThoseThatAreWantedAndNotTimed) {
  std::vector<RowInfo> plan = accuracy_rows(4, 1);
  plan[1].mode = "perf";
  SharedRows shared(1);
  shared.add(plan, {.wanted = {true, true, false, true}}, {});
  EXPECT_THAT(shared.take(), ElementsAre(0));
  EXPECT_THAT(shared.take(), ElementsAre(3));
  EXPECT_THAT(shared.take(), IsEmpty());
}

TEST(SharedRows, AreTakenAgainWhenTheyComeBack) {
  SharedRows shared(1);
  shared.add(accuracy_rows(2, 1), {}, {});
  EXPECT_THAT(shared.take(), ElementsAre(0));
  shared.give_back(0, {.status = Status::Missing, .reason = "given up"});
  const auto rest = shared.take_rest();
  EXPECT_THAT(rest, ElementsAre(Key(0), Key(1)));
  EXPECT_EQ(rest.at(0).value().reason, "given up");
  EXPECT_FALSE(rest.at(1).has_value());
  EXPECT_FALSE(shared.has_rows());
}

TEST(FirstLine, IsTheFirstThatIsNotForPeople) {
  WorkerProcess process(
      shell_command(R"(echo '{"worker":"log","text":"waiting"}'; echo '{"worker":"idle"}')"));
  process.start();
  std::vector<std::string> logged;
  const FirstLine first =
      first_line(process, 60, {}, [&](const std::string& text) { logged.push_back(text); });
  EXPECT_EQ(first.line, R"({"worker":"idle"})");
  EXPECT_THAT(logged, ElementsAre("waiting"));
}

}  // namespace

}  // namespace assay
