#include "harness/commands/run/run_once.h"

#include "harness/report/journal/journal.h"
#include "ops/registry.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* four_timed_rows = R"(op: q8ta_pixel_shuffle
cases:
  - name: timed
    mode: perf
    upscale_factor: 2
    shape: {each: [[1, 16, 4, 4], [1, 16, 8, 4]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
)";

/// `assay run` on the best device, its ceilings not measured, stopped as the test likes.
struct Bench {
  Bench() {
    std::ofstream(folder.path() / "c.yaml") << four_timed_rows;
    options.cases.files = {folder.path() / "c.yaml"};
    options.out = folder.path() / "out";
    options.ceilings = "none";
    options.rows.budget_s = 0.05;
    options.attempt.isolation = false;
  }

  RunOutcome run(const std::function<bool()>& stop_requested = {}) {
    Session session(options);
    return run_once(options, {.registry = registry, .command_line = {"assay", "run"}}, session,
                    {out, log, errors}, stop_requested);
  }

  /// A stop that is requested from the n-th time on that it is asked for.
  static std::function<bool()> after(int asked) {
    const auto left = std::make_shared<int>(asked);  // the caller has a copy of the function
    return [left] { return --*left < 0; };
  }

  test::TemporaryFolder folder;
  Registry registry = ops::registry();
  RunOptions options;
  std::ostringstream out, log, errors;
};

std::size_t count(const RunReport& report, Status status) {
  return static_cast<std::size_t>(std::ranges::count(report.records, status, &Record::status));
}

TEST(RunOnce, WritesReportsWhereTheLinkLeads) {
  Bench bench;
  const RunOutcome outcome = bench.run();
  ASSERT_EQ(outcome.reports.size(), 1U);
  EXPECT_EQ(outcome.code, ExitCode::Fine) << bench.out.str();
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_TRUE(outcome.reports[0].complete);
  EXPECT_EQ(count(outcome.reports[0], Status::Pass), 4U);
  const fs::path run = bench.options.out / "runs" / outcome.reports[0].run.run_id;
  EXPECT_TRUE(fs::is_directory(run));
  EXPECT_THAT(bench.out.str(), HasSubstr("reports " + run.string()));
}

TEST(RunOnce, AStopWhileRowsTakeTurnsInterruptsOneAndMissesTheOthers) {
  // Asked before the rows (twice before the first: once whether timing is worth preparing), then before each
  // block: of seven blocks of four rows some have been taken.
  Bench bench;
  const RunOutcome outcome = bench.run(Bench::after(12));
  const RunReport& report = outcome.reports.at(0);
  EXPECT_EQ(outcome.code, ExitCode::Infrastructure);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.records.size(), 4U);
  EXPECT_EQ(count(report, Status::Interrupted), 1U);
  EXPECT_EQ(count(report, Status::Missing), 3U);
  EXPECT_EQ(interrupted_line(outcome).find("interrupted: 0 of 4 rows"), 0U);
  const RunReport read =
      read_journal(bench.options.out / "runs" / report.run.run_id /
                   fs::directory_iterator(bench.options.out / "runs" / report.run.run_id)->path().filename() /
                   "journal.jsonl");
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(count(read, Status::Interrupted), 1U);
}

TEST(RunOnce, AStopBeforeTheFirstRowMissesAllAndPreparesNoTiming) {
  Bench bench;
  const RunOutcome outcome = bench.run(Bench::after(0));
  const RunReport& report = outcome.reports.at(0);
  EXPECT_EQ(outcome.code, ExitCode::Infrastructure);
  EXPECT_EQ(count(report, Status::Missing), 4U);
  EXPECT_EQ(report.run.timer.unit_ns, 0) << "the timer was calibrated for nothing";
}

TEST(RunOnce, AStopAfterTheLastRowHasInterruptedNothing) {
  Bench bench;
  bench.options.cases.mode = "accu";
  std::ofstream(bench.folder.path() / "c.yaml") << R"(op: q8ta_pixel_shuffle
cases:
  - name: one
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";
  const RunOutcome outcome = bench.run(Bench::after(1));  // asked once before the row, then when it has ended
  EXPECT_EQ(count(outcome.reports.at(0), Status::Pass), 1U);
  EXPECT_EQ(outcome.code, ExitCode::Fine);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_TRUE(outcome.reports[0].complete);
}

/// A row that passes, and four of a shader that does not compile.
struct FailingBench : Bench {
  FailingBench() {
    options.cases.mode = "accu";
    std::ofstream(folder.path() / "c.yaml") << R"(op: q8ta_pixel_shuffle
defaults: {upscale_factor: 2, shape: [1, 16, 4, 4]}
cases:
  - name: passes
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    impl: unfused
  - name: fails
    qparams: {x: {scale: 0.007112, zero_point: {each: [-3, -2, -1, 0]}}, y: {scale: 0.013, zero_point: 5}}
    impl: fused
)";
    options.shaders = folder.path() / "shaders";
    folder.write("shaders/q8ta_pixel_shuffle.comp", "#version 450\nvoid main() { nothing; }\n");
  }
};

TEST(RunOnce, StopsWhenAsManyRowsHaveFailedAsAreAllowed) {
  FailingBench bench;
  bench.options.attempt.max_failures = 2;
  const RunOutcome outcome = bench.run();
  const RunReport& report = outcome.reports.at(0);
  EXPECT_EQ(count(report, Status::Pass), 1U) << bench.out.str();
  EXPECT_EQ(count(report, Status::Fail), 2U);
  EXPECT_EQ(count(report, Status::Missing), 2U);
  EXPECT_EQ(outcome.code, ExitCode::Failures) << "of the rows that ended";
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(interrupted_line(outcome),
            "stopped at --max-failures 2: 3 of 5 rows ended; the reports hold them, the others are "
            "MISSING\n");
}

TEST(RunOnce, EndsAsEverWhereFewerFailThanAreAllowedOrTheLastOne) {
  for (const int most : {4, 5}) {
    FailingBench bench;
    bench.options.attempt.max_failures = most;
    const RunOutcome outcome = bench.run();
    EXPECT_EQ(count(outcome.reports.at(0), Status::Fail), 4U) << most;
    EXPECT_EQ(outcome.code, ExitCode::Failures) << most;
    EXPECT_FALSE(outcome.interrupted) << most;
    EXPECT_TRUE(outcome.reports[0].complete) << most;
  }
}

/// q8ta_relu as if it were a convolution: `auto` would take `wants_more`, which no device can run, then
/// `rows`.
Op relu_with_conv2d() {
  const Registry registry = ops::registry();
  Op op = *registry.find("q8ta_relu");
  Impl words = op.impls.front(), rows = op.impls.front();
  words.name = "words";
  words.conv2d_layout = Layout::P4C1W;
  rows.name = "rows";
  rows.conv2d_layout = Layout::P4C;
  Impl chooser{.name = "auto", .summary = "rows before words"};
  chooser.choose = [](const BuildContext&) {
    return std::vector<std::string>{"wants_more", "rows", "words"};
  };
  Impl wants_more = words;
  wants_more.name = "wants_more";
  wants_more.conv2d_layout = Layout::P4W4C;
  wants_more.unsupported_reason = [](const BuildContext&) {
    return std::optional<std::string>("a device of its own");
  };
  op.impls = {words, rows, wants_more, chooser};
  return op;
}

TEST(RunOnce, SettlesConv2dOnTheDevice) {
  Bench bench;
  bench.registry = Registry({relu_with_conv2d()});
  bench.options.cases.mode = "accu";
  std::ofstream(bench.folder.path() / "c.yaml") << R"(op: q8ta_relu
cases:
  - name: one
    shape: [1, 6, 5, 7]
    qparams: {x: {scale: 0.007843, zero_point: 3}, y: {scale: 0.015686, zero_point: 1}}
    forms: {x: buffer/CONV2D, y: {each: [buffer/CONV2D, buffer/4W]}}
    impl: {each: [words, auto]}
)";
  const RunOutcome outcome = bench.run();
  EXPECT_EQ(bench.errors.str(), "");
  EXPECT_EQ(count(outcome.reports.at(0), Status::Pass), 4U) << bench.out.str();
  std::vector<std::string> rows;
  for (const Record& record : outcome.reports[0].records)
    rows.push_back(record.info.id + " " + record.info.forms);
  EXPECT_THAT(rows, testing::UnorderedElementsAre(
                        "q8ta_relu/one/CONV2D.CONV2D/words x=buffer/CONV2D(4C1W) y=buffer/CONV2D(4C1W)",
                        "q8ta_relu/one/CONV2D.CONV2D/auto x=buffer/CONV2D(4C) y=buffer/CONV2D(4C)",
                        "q8ta_relu/one/CONV2D.4W/words x=buffer/CONV2D(4C1W) y=buffer/4W",
                        "q8ta_relu/one/CONV2D.4W/auto x=buffer/CONV2D(4C) y=buffer/4W"));
}

TEST(RunOnce, RoundsOfASessionShareTheRunsFolder) {
  Bench bench;
  bench.options.cases.mode = "";
  Session session(bench.options);
  const Context context{.registry = bench.registry, .command_line = {"assay", "run"}};
  const auto round = [&] {
    return run_once(bench.options, context, session, {bench.out, bench.log, bench.errors}).reports.at(0);
  };
  EXPECT_EQ(round().run.run_id, round().run.run_id);
  EXPECT_EQ(std::distance(fs::directory_iterator(bench.options.out / "runs"), {}), 1);
}

}  // namespace
}  // namespace assay::app
