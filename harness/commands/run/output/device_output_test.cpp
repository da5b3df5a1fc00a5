#include "harness/commands/run/output/device_output.h"

#include "harness/base/error.h"
#include "harness/commands/rules/device_rules.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"
#include "harness/report/writers/writers.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

RowInfo info(const std::string& id, const std::string& mode = "accu") {
  return {.id = id, .op = "flip", .name = "small", .impl = "plain", .mode = mode, .tier = "ci"};
}

Record passed(const RowInfo& about) {
  Record record;
  record.info = about;
  record.status = Status::Pass;
  record.accuracy = AccuracyResult{.output = "y", .elements = 4};
  return record;
}

RunInfo run_info() {
  RunInfo run;
  run.run_id = "20260102T030405Z-1a2b3c";
  run.device.name = "fake";
  return run;
}

/// A recorder whose console writes where a test can look.
struct Desk {
  test::TemporaryFolder folder;
  std::ostringstream out, log;
  Console console{out, log};
  Recorder recorder{folder.path() / "device", console};

  std::filesystem::path file(const std::string& name) const { return folder.path() / "device" / name; }
};

TEST(Recorder, HasReportsBeforeTheFirstCaseEnds) {
  Desk desk;
  desk.recorder.run(run_info());
  const std::vector<RowInfo> plan = {info("flip/a/plain"), info("flip/b/plain", "perf")};
  desk.recorder.plan(plan);
  desk.recorder.begin(0);
  for (const char* name : {"accu.csv", "perf.csv", "history.csv", "perf.json", "junit.xml", "run.json"}) {
    EXPECT_TRUE(std::filesystem::exists(desk.file(name))) << name;
  }
  EXPECT_THAT(test::read_file(desk.file("accu.csv")), HasSubstr("flip/a/plain"));
  EXPECT_THAT(test::read_file(desk.file("accu.csv")), HasSubstr("MISSING"));
  EXPECT_THAT(test::read_file(desk.file("perf.csv")), HasSubstr("flip/b/plain"));
}

TEST(Recorder, KeepsEveryRecordInTheJournalAtOnce) {
  Desk desk;
  desk.recorder.run(run_info());
  const std::vector<RowInfo> plan = {info("flip/a/plain"), info("flip/b/plain")};
  desk.recorder.plan(plan);
  desk.recorder.begin(0);
  test::tell_record(desk.recorder, 0, passed(plan[0]));
  desk.recorder.begin(1);
  const RunReport seen = read_journal(desk.file("journal.jsonl"));  // as if the process had been killed now
  ASSERT_EQ(seen.records.size(), 2U);
  EXPECT_EQ(seen.records[0].status, Status::Pass);
  EXPECT_EQ(seen.records[1].status, Status::Crash) << "it was begun and never ended";
  EXPECT_FALSE(seen.complete);
}

TEST(Recorder, ReportsEqualThoseRebuiltFromTheJournal) {
  Desk desk;
  desk.recorder.run(run_info());
  const std::vector<RowInfo> plan = {info("flip/a/plain"), info("flip/b/plain", "perf"),
                                     info("flip/c/plain")};
  desk.recorder.plan(plan);
  for (const RowIndex row : {0U, 1U}) {
    desk.recorder.begin(row);
    Record record = passed(plan[row]);
    record.total_ms = 1.0 / 3;
    if (record.info.mode == "perf") {
      record.perf = PerfResult{.stop = "interval"};
      record.perf->sample_us = {{0.1}, {0.3}};
    }
    test::tell_record(desk.recorder, row, record);
  }
  desk.recorder.done();
  const test::TemporaryFolder again;
  write_reports(again.path(), read_journal(desk.file("journal.jsonl")));
  for (const char* name : {"accu.csv", "perf.csv", "history.csv", "perf.json", "junit.xml", "run.json"}) {
    EXPECT_EQ(test::read_file(desk.file(name)), test::read_file(again.path() / name)) << name;
  }
  EXPECT_THAT(test::read_file(desk.file("accu.csv")), HasSubstr("PASS"));
  EXPECT_THAT(test::read_file(desk.file("accu.csv")), HasSubstr("MISSING")) << "flip/c was never reached";
}

TEST(Recorder, GoesOnWithEachRowThatRanWhenTheRunWasKilled) {
  const std::vector<RowInfo> plan = {info("flip/a/plain"), info("flip/b/plain"), info("flip/c/plain")};
  Desk desk;
  const test::TemporaryFolder killed;
  {
    Journal journal(killed.path() / "journal.jsonl");
    journal.run(run_info());
    journal.plan(plan);
    journal.begin(0);
    journal.begin(1);  // by another worker
    test::tell_record(journal, 1, passed(plan[1]));
    journal.begin(2);
  }
  const Recorder recorder(killed.path(), desk.console, Recorder::GoOn{});
  const RunReport seen = read_journal(killed.path() / "journal.jsonl");
  EXPECT_EQ(seen.records.at(0).status, Status::Interrupted);
  EXPECT_EQ(seen.records.at(1).status, Status::Pass);
  EXPECT_EQ(seen.records.at(2).status, Status::Interrupted);
}

TEST(Recorder, SaysWhatCanBeDoneAboutADamagedJournalThatIsResumed) {
  Desk desk;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(run_info());
    journal.plan(std::vector<RowInfo>{info("flip/a/plain")});
    journal.begin(0);
  }
  const std::string whole = test::read_file(path);
  // The disk had written a page after one that it lost in a power failure.
  std::string hole = whole;
  const std::size_t plan = whole.find("{\"event\":\"plan\"");
  hole.replace(plan, 8, 8, '\0');
  test::write_file(path, hole);
  EXPECT_EQ(test::error_of([&] { const Recorder recorder(folder.path(), desk.console, Recorder::GoOn{}); }),
            path.string() +
                ":2: resuming a run: this line of the journal is damaged: it is not valid JSON from "
                "column 1 on; `assay report --salvage` shows the rows of the other lines; run the cases "
                "again into a new folder");
  EXPECT_EQ(test::read_file(path), hole) << "the journal stays as it is";
  // It had written none after it: the last line is cut.
  test::write_file(path, whole + std::string(4096, '\0'));
  const Recorder recorder(folder.path(), desk.console, Recorder::GoOn{});
  EXPECT_EQ(read_journal(path).records.at(0).status, Status::Interrupted);
}

TEST(Recorder, TellsTheConsoleToo) {
  Desk desk;
  desk.recorder.run(run_info());
  const std::vector<RowInfo> plan = {info("flip/a/plain")};
  desk.recorder.plan(plan);
  desk.recorder.begin(0);
  Record record = passed(plan[0]);
  record.status = Status::Fail;
  record.reason = "y[3] is wrong";
  test::tell_record(desk.recorder, 0, record);
  desk.recorder.done();
  EXPECT_THAT(desk.out.str(), HasSubstr("y[3] is wrong"));
  EXPECT_TRUE(desk.recorder.report().complete);
}

TEST(Recorder, ReportsThatCannotBeWrittenDoNotEndARun) {
  Desk desk;
  std::filesystem::create_directories(desk.file("accu.csv"));  // where the report should go
  desk.recorder.run(run_info());
  const std::vector<RowInfo> plan = {info("flip/a/plain")};
  desk.recorder.plan(plan);
  EXPECT_THAT(desk.recorder.reports_failure(), HasSubstr("accu.csv"));
  desk.recorder.begin(0);
  test::tell_record(desk.recorder, 0, passed(plan[0]));
  std::filesystem::remove(desk.file("accu.csv"));
  desk.recorder.done();
  EXPECT_EQ(desk.recorder.reports_failure(), "") << "the last try could";
  EXPECT_THAT(test::read_file(desk.file("accu.csv")), HasSubstr("PASS"));
}

TEST(Recorder, AFolderThatCannotBeWrittenIsAnErrorOfTheInfrastructure) {
  const test::TemporaryFolder folder;
  folder.write("file", "not a folder");
  std::ostringstream out, log;
  Console console(out, log);
  try {
    const Recorder recorder(folder.path() / "file" / "device", console);
    FAIL() << "a file was taken for a folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), HasSubstr((folder.path() / "file").string()));
  }
}

/// A run on a clock of its own. As the Recorder does, the reports are written when the run begins and ends,
/// and between when a row has ended and it is time.
class SimulatedRun {
 public:
  /// A row takes `row_s` to run, and `rewritten_s` in each rewrite.
  SimulatedRun(std::int64_t rows, double row_s, double rewritten_s = 20e-6)
      : rows_(rows), rewrite_s_(rewritten_s * static_cast<double>(rows)) {
    rewrite();
    for (std::int64_t row = 0; row < rows; ++row) {
      now_ += row_s;
      oldest_s_ = std::max(oldest_s_, now_ - written_);
      if (schedule_.is_due(now_)) rewrite();
    }
    rewrite();
  }

  std::int64_t rewritten_rows() const { return rewrites_ * rows_; }
  double rewriting_s() const { return static_cast<double>(rewrites_) * rewrite_s_; }
  double duration_s() const { return now_; }
  /// How old the reports have been at most.
  double oldest_s() const { return oldest_s_; }

 private:
  void rewrite() {
    const double began = now_;
    now_ += rewrite_s_;
    written_ = now_;
    ++rewrites_;
    schedule_.rewrote(began, now_);
  }

  RewriteSchedule schedule_;
  std::int64_t rows_;
  double rewrite_s_;
  double now_ = 0;
  double written_ = 0;
  double oldest_s_ = 0;
  std::int64_t rewrites_ = 0;
};

TEST(RewriteSchedule, TheFirstRewriteIsDueAtOnce) {
  EXPECT_TRUE(RewriteSchedule().is_due(0));
}

TEST(RewriteSchedule, RewrittenRowsGrowInProportionToTheRowsOfARun) {
  for (const double row_s : {1e-4, 1e-3, 1e-2}) {
    const SimulatedRun run(100'000, row_s);
    const SimulatedRun longer(1'000'000, row_s);
    EXPECT_LE(longer.rewritten_rows(), 11 * run.rewritten_rows()) << row_s;
    // Those of the begin and the end, and what takes a twentieth of the time of a row.
    EXPECT_LE(static_cast<double>(longer.rewritten_rows()), 1e6 * (3 + row_s / (20 * 20e-6))) << row_s;
  }
}

TEST(RewriteSchedule, FastRowsAreRewrittenAtTheBeginAndTheEndAlone) {
  EXPECT_EQ(SimulatedRun(100'000, 1e-4).rewritten_rows(), 200'000) << "10 s of rows, and 2 s a rewrite";
}

TEST(RewriteSchedule, RewritesTakeATwentiethOfALongRun) {
  for (const std::int64_t rows : {1000, 10'000, 100'000}) {
    const SimulatedRun run(rows, 0.1);
    EXPECT_LT(run.rewriting_s(), run.duration_s() / 20 + 2 * 20e-6 * static_cast<double>(rows)) << rows;
  }
}

TEST(RewriteSchedule, ASlowRunOfAHundredThousandRowsHasReportsOfTheLastMinute) {
  EXPECT_LT(SimulatedRun(100'000, 1).oldest_s(), 60);
}

TEST(RewriteSchedule, SmallReportsAreRewrittenEveryTwoSeconds) {
  const SimulatedRun run(100, 0.5);
  EXPECT_LE(run.oldest_s(), 2.5);
  EXPECT_LE(run.rewritten_rows(), 100 * (50 / 2 + 2));
}

const Expectation rule{.match = "op/a*",
                       .statuses = {Status::Fail, Status::Crash},
                       .reason = "a bug of the driver",
                       .link = "https://example.org/7",
                       .where = {"gpu.yaml", 3, 5}};

/// A journal's end of what a run of these rows told through ExpectedRows.
class RulesBench {
 public:
  RulesBench() {
    Expectations::Device device{Pattern("Acme"),
                                {rule,
                                 {.match = "*", .mode = "perf", .reason = "slow"},
                                 {.match = "op/c", .metrics = {"wrong_value"}, .reason = "off by one"}}};
    expectations_.add(std::move(device));
    rows_.run({.device = {.name = "Acme GPU 9"}});
    const RowInfo plan[] = {{.id = "op/a", .mode = "accu"},
                            {.id = "op/a/cold", .mode = "perf", .cache = "cold"},
                            {.id = "op/b", .mode = "accu"},
                            {.id = "op/b", .mode = "perf"},
                            {.id = "op/c", .mode = "accu"}};
    rows_.plan(plan);
  }

  Record ended(RowIndex row, RowEnd end, const std::string& metric = "") {
    rows_.begin(row);
    if (!metric.empty()) rows_.judged(row, {.metric = metric});
    rows_.end(row, end);
    return builder_.record(row);
  }

 private:
  Expectations expectations_;
  ReportBuilder builder_;
  ExpectedRows rows_{expectations_, "Acme GPU 9", builder_};
};

TEST(ExpectedRows, AnExpectedFailureIsFineAndKeepsItsReason) {
  const Record record = RulesBench().ended(2, {.status = Status::Fail, .reason = "wrong"});
  EXPECT_EQ(record.status, Status::Fail) << "no rule is for this row";
  const Record expected = RulesBench().ended(3, {.status = Status::Fail, .reason = "wrong"});
  EXPECT_EQ(expected.status, Status::ExpectedFail);
  EXPECT_EQ(expected.reason, "expected (slow): wrong");
}

TEST(ExpectedRows, AnEndThatAnotherProcessToldIsOneLikeAllOthers) {
  const Record record =
      RulesBench().ended(0, {.status = Status::Crash, .reason = "the worker ended by SIGSEGV"});
  EXPECT_EQ(record.status, Status::ExpectedFail);
  EXPECT_EQ(record.reason,
            "expected (a bug of the driver, https://example.org/7): CRASH: the worker ended by SIGSEGV");
}

TEST(ExpectedRows, WhatIsNotExpectedStaysAsItIs) {
  for (const Status status : {Status::Timeout, Status::Skipped, Status::Unsupported, Status::Missing,
                              Status::DeviceLost, Status::ExpectedFail}) {
    const Record record = RulesBench().ended(0, {.status = status, .reason = "so it is"});
    EXPECT_EQ(record.status, status);
    EXPECT_EQ(record.reason, "so it is");
  }
}

TEST(ExpectedRows, ARowMayEndTwice) {
  RulesBench bench;
  EXPECT_EQ(bench.ended(0, {.status = Status::Crash, .reason = "SIGSEGV"}).status, Status::ExpectedFail);
  EXPECT_EQ(bench.ended(0, {.status = Status::Pass}).status, Status::UnexpectedPass);
}

TEST(ExpectedRows, APassThatWasExpectedToFailIsUnexpectedAndHasNoTime) {
  const Record record = RulesBench().ended(1, {.status = Status::Pass, .perf = PerfResult{}});
  EXPECT_EQ(record.status, Status::UnexpectedPass);
  EXPECT_EQ(record.reason,
            "it passes, but gpu.yaml:3 expects FAIL or CRASH (a bug of the driver, https://example.org/7); "
            "remove the rule, or narrow it to the rows that still fail");
  EXPECT_FALSE(record.perf.has_value());
}

TEST(ExpectedRows, ARuleWithAMetricHidesNoOtherFailure) {
  RulesBench bench;
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail}, "wrong_value").status, Status::ExpectedFail);
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail}, "unwritten").status, Status::Fail);
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail, .reason = "the shader does not compile"}).status,
            Status::Fail);
}

TEST(ExpectedRows, RulesThatLeaveRowsOutAreTheEngines) {
  const RowEnd end = as_expected({.status = Status::Pass}, {.kind = Expectation::Kind::Skip}, nullptr);
  EXPECT_EQ(end.status, Status::Pass);
}

}  // namespace

}  // namespace assay::app
