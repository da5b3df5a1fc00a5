#include "harness/report/journal/report_builder.h"

#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

/// Tells of rows that have ended so, each after it began.
void tell(ReportBuilder& journal, const std::vector<RowEnd>& ends) {
  journal.run({.run_id = "r"});
  std::vector<RowInfo> rows(ends.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows[row] = {.id = std::string(1, static_cast<char>('a' + row)), .mode = "accu"};
  journal.plan(rows);
  for (RowIndex row = 0; row < ends.size(); ++row) {
    journal.begin(row);
    journal.end(row, ends[row]);
  }
}

TEST(UntriedRows, AreThoseThatAWorkerWasLostWithAndThatHadNoSecondTry) {
  ReportBuilder journal;
  tell(journal, {{.status = Status::Pass},
                 {.status = Status::Crash, .reason = "it crashed"},
                 {.status = Status::Crash, .retry = "REPRODUCED"},
                 {.status = Status::Timeout},
                 {.status = Status::DeviceLost},
                 {.status = Status::Fail},
                 {.status = Status::Missing}});
  const std::map<RowIndex, RowEnd> untried = untried_rows(journal);
  EXPECT_THAT(untried, ElementsAre(Key(1), Key(3), Key(4)));
  EXPECT_EQ(untried.at(1).reason, "it crashed");
  EXPECT_THAT(rows_left(journal).wanted, ElementsAre(false, false, false, false, false, false, true))
      << "they are tried once more, and not run anew";
}

TEST(UntriedRows, AreNotThoseThatTheRunWasKilledWithAgainAndAgain) {
  const RowEnd killed{.status = Status::Interrupted, .reason = std::string(killed_while_running)};
  ReportBuilder journal;
  tell(journal, {killed});
  journal.begin(0);
  journal.end(0, killed);
  journal.begin(0);
  journal.end(0, {.status = Status::Crash, .reason = "the run was killed while this row ran"});
  EXPECT_THAT(untried_rows(journal), IsEmpty()) << "it may be what takes the machine down";
}

/// A journal of three rows, of which the second runs.
struct Journal {
  Journal() {
    builder.run({.run_id = "r"});
    builder.plan(std::vector<RowInfo>{
        {.id = "a", .mode = "accu"}, {.id = "b", .mode = "accu"}, {.id = "c", .mode = "accu"}});
    builder.begin(0);
    builder.end(0, {.status = Status::Pass});
    builder.begin(1);
  }
  /// Acts as a run that resumes this one and is killed in the same row.
  void go_on() {
    const KilledRow killed = killed_rows(builder).at(0);
    builder.end(killed.row, killed.end);
    builder.begin(1);
  }
  ReportBuilder builder;
};

TEST(KilledRow, IsInterruptedAndRunAgain) {
  const Journal journal;
  const KilledRow killed = killed_rows(journal.builder).at(0);
  EXPECT_EQ(killed.row, 1U);
  EXPECT_EQ(killed.end.status, Status::Interrupted);
}

TEST(KilledRow, IsACrashWhenItWasRunningEachOfThreeTimesAndTheLastTimeAlone) {
  Journal journal;
  journal.go_on();
  EXPECT_EQ(killed_rows(journal.builder).at(0).end.status, Status::Interrupted);
  journal.go_on();
  const KilledRow killed = killed_rows(journal.builder).at(0);
  EXPECT_EQ(killed.end.status, Status::Crash);
  EXPECT_THAT(killed.end.reason, HasSubstr("while this row ran alone, and 2 times before"));
}

TEST(KilledRow, RunsAloneAfterTheSecondKillUntilItHasEnded) {
  Journal journal;
  const auto kill = [&] {
    const KilledRow killed = killed_rows(journal.builder).at(0);
    journal.builder.end(killed.row, killed.end);
  };
  kill();
  EXPECT_THAT(rows_to_run_alone(journal.builder), IsEmpty());
  EXPECT_THAT(suspected_rows(journal.builder), ElementsAre(1));
  journal.builder.begin(1);
  kill();
  EXPECT_THAT(rows_to_run_alone(journal.builder), ElementsAre(1));
  EXPECT_THAT(suspected_rows(journal.builder), IsEmpty());
  journal.builder.begin(1);
  journal.builder.end(1, {.status = Status::Interrupted, .reason = std::string(stopped_because)});
  EXPECT_THAT(rows_to_run_alone(journal.builder), ElementsAre(1)) << "a stop is no end";
  journal.builder.begin(1);
  journal.builder.end(1, {.status = Status::Fail});
  EXPECT_THAT(rows_to_run_alone(journal.builder), IsEmpty());
}

TEST(KilledRow, IsNotAccusedWhereAnotherRowRanToo) {
  Journal journal;
  journal.go_on();
  journal.go_on();
  journal.builder.begin(2);
  for (const KilledRow& killed : killed_rows(journal.builder))
    EXPECT_EQ(killed.end.status, Status::Interrupted) << killed.row;
}

/// Resumes a run of seven timed rows after kills from outside, `kills` times, and returns the rows that are
/// accused. A row takes `turns` turns, of which the run does nine before it is killed: alternating, except
/// for those that run alone first.
std::vector<RowIndex> accused_after(int kills, int turns) {
  ReportBuilder journal;
  journal.run({.run_id = "r"});
  journal.plan(std::vector<RowInfo>(7, {.id = "row", .mode = "perf"}));
  std::map<RowIndex, int> turns_left;
  for (RowIndex row = 0; row < 7; ++row) turns_left[row] = turns;
  std::vector<RowIndex> accused;
  for (int kill = 0; kill < kills; ++kill) {
    for (const KilledRow& killed : killed_rows(journal)) {
      journal.end(killed.row, killed.end);
      if (killed.end.status != Status::Crash) continue;
      accused.push_back(killed.row);
      turns_left.erase(killed.row);
    }
    int turns_of_run = 9;
    const auto take_turn = [&](RowIndex row) {
      journal.begin(row);
      if (--turns_of_run > 0 && --turns_left[row] == 0) {
        journal.end(row, {.status = Status::Pass});
        turns_left.erase(row);
      }
    };
    for (const RowIndex row : rows_to_run_alone(journal)) {
      while (turns_of_run > 0 && turns_left.contains(row)) take_turn(row);
    }
    while (turns_of_run > 0 && !turns_left.empty()) {
      std::vector<RowIndex> round;
      for (const auto& [row, left] : turns_left) round.push_back(row);
      for (const RowIndex row : round) {
        if (turns_of_run > 0) take_turn(row);
      }
    }
  }
  return accused;
}

TEST(KilledRow, IsNotAccusedOfTwelveKillsFromOutsideWhileRowsAlternate) {
  EXPECT_THAT(accused_after(12, 6), IsEmpty());
}

TEST(KilledRow, IsNoneWhereEveryRowThatBeganHasEnded) {
  Journal journal;
  journal.builder.end(1, {.status = Status::Pass});
  EXPECT_THAT(killed_rows(journal.builder), IsEmpty());
}

TEST(KilledRow, IsEachThatRanWhereWorkersRanSideBySide) {
  Journal journal;
  journal.builder.begin(2);
  const std::vector<KilledRow> killed = killed_rows(journal.builder);
  ASSERT_EQ(killed.size(), 2U);
  EXPECT_EQ(killed[0].row, 1U);
  EXPECT_EQ(killed[1].row, 2U);
  for (const KilledRow& row : killed) journal.builder.end(row.row, row.end);
  EXPECT_THAT(suspected_rows(journal.builder), ElementsAre(1, 2));
}

TEST(KilledRow, IsNoLongerSuspectedOnceItHasEnded) {
  Journal journal;
  journal.go_on();
  journal.builder.end(1, {.status = Status::Pass});
  EXPECT_THAT(suspected_rows(journal.builder), IsEmpty());
}

TEST(KilledRow, IsOfTimedRowsOnlyTheOneWhoseTurnItWas) {
  ReportBuilder journal;
  journal.run({.run_id = "r"});
  journal.plan(std::vector<RowInfo>{
      {.id = "a", .mode = "perf"}, {.id = "b", .mode = "perf"}, {.id = "c", .mode = "accu"}});
  journal.begin(0);
  journal.begin(1);
  ASSERT_EQ(killed_rows(journal).size(), 1U);
  EXPECT_EQ(killed_rows(journal).at(0).row, 1U);
  journal.begin(2);
  ASSERT_EQ(killed_rows(journal).size(), 1U) << "a row that waits to be timed lets others run";
  EXPECT_EQ(killed_rows(journal).at(0).row, 2U);
}

TEST(ReportBuilder, ListsRowsAsPlannedHoweverTheyEnd) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  builder.plan(test::infos_of({test::passed("a"), test::passed("b")}));
  builder.plan(test::infos_of({test::passed("c")}));
  for (const RowIndex row : {2U, 0U, 1U}) test::tell_row(builder, row, test::passed("any"));
  std::vector<std::string> names;
  for (const Record& record : builder.report().records) names.push_back(record.info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(ReportBuilder, TakesTheNewestTryOfARow) {
  ReportBuilder builder;
  builder.plan(test::infos_of({test::timed("a", "fused", 2)}));
  test::tell_row(builder, 0, test::failed("a"));
  test::tell_row(builder, 0, test::timed("a", "fused", 2));
  const Record record = builder.report().records.at(0);
  EXPECT_EQ(record.status, Status::Pass);
  EXPECT_FALSE(record.accuracy.has_value()) << "of the try before";
}

/// A timed row of two blocks with two samples each, whose judged outputs have this hash.
Record judged_row(const std::string& output_hash = "outputs") {
  Record row = test::timed("a", "fused", 2);
  row.accuracy.emplace();
  row.accuracy->output_hash = row.perf->output_hash = output_hash;
  return row;
}

/// Tells of such a row until its first block, and, where there is one, of an end.
void cut_short(ReportBuilder& builder, std::optional<Status> end = std::nullopt) {
  const Record row = judged_row();
  builder.plan(test::infos_of({row}));
  builder.begin(0);
  builder.judged(0, *row.accuracy);
  builder.block(0, {.samples_ns = {1e6}});
  if (end) builder.end(0, {.status = *end});
}

TEST(ReportBuilder, KeepsTheBlocksOfARowThatGoesOn) {
  for (const std::optional<Status> end :
       {std::optional<Status>(), std::optional(Status::Missing), std::optional(Status::Interrupted)}) {
    ReportBuilder builder;
    cut_short(builder, end);
    test::tell_row(builder, 0, judged_row());
    EXPECT_EQ(builder.report().records.at(0).perf->samples, 5);
    EXPECT_EQ(builder.events(0).blocks.size(), 3U);
    EXPECT_EQ(builder.rows(), 1U);
  }
}

TEST(ReportBuilder, DropsTheBlocksOfARowThatIsJudgedAgainWithOtherOutputs) {
  for (const char* hash : {"others", ""}) {
    ReportBuilder builder;
    cut_short(builder);
    test::tell_row(builder, 0, judged_row(hash));
    EXPECT_EQ(builder.report().records.at(0).perf->samples, 4) << hash;
  }
}

TEST(ReportBuilder, DropsWhatWasToldOfARowThatEndedAndBeginsAnew) {
  for (const Status end : {Status::Pass, Status::Fail, Status::Crash, Status::Timeout, Status::Skipped}) {
    ReportBuilder builder;
    cut_short(builder, end);
    builder.begin(0);
    EXPECT_FALSE(builder.events(0).judged || builder.events(0).end) << name_of(end);
    EXPECT_TRUE(builder.events(0).blocks.empty()) << name_of(end);
  }
}

TEST(ReportBuilder, ARowThatGoesOnHasNotEnded) {
  ReportBuilder builder;
  cut_short(builder, Status::Interrupted);
  EXPECT_EQ(builder.record(0).status, Status::Interrupted);
  builder.begin(0);
  EXPECT_EQ(builder.report().records[0].status, Status::Crash);
}

TEST(ReportBuilder, KeepsTheModesOfACaseApart) {
  ReportBuilder builder;
  builder.plan(std::vector<RowInfo>{test::sample_case("a", "accu"), test::sample_case("a", "perf")});
  test::tell_row(builder, 1, test::timed("a", "fused", 1));
  ASSERT_EQ(builder.report().records.size(), 2U);
  EXPECT_EQ(builder.report().records[0].status, Status::Missing);
  EXPECT_EQ(builder.report().records[1].status, Status::Pass);
}

TEST(ReportBuilder, BlamesTheRowThatWasBegunAgain) {
  ReportBuilder builder;
  builder.plan(test::infos_of({test::passed("a")}));
  test::tell_row(builder, 0, test::passed("a"));
  builder.begin(0);
  EXPECT_EQ(builder.report().records[0].status, Status::Crash);
}

TEST(ReportBuilder, IsCompleteOnlyWhenTheEndCameLast) {
  ReportBuilder builder;
  EXPECT_FALSE(builder.report().complete);
  builder.run(test::sample_run());
  builder.plan(test::infos_of({test::passed("a")}));
  builder.done();
  EXPECT_TRUE(builder.report().complete);
  builder.begin(0);
  EXPECT_FALSE(builder.report().complete);
}

TEST(ReportBuilder, HasTheRulesToBeLookedAtThatWereToldLast) {
  ReportBuilder builder;
  RunInfo told = test::sample_run();
  builder.run(told);
  told.rule_notes = {{"stale", {"gpu.yaml", 3, 5}, "op/*", "a bug", "remove it"}};
  builder.run(told);
  ASSERT_EQ(builder.report().run.rule_notes.size(), 1U);
  const RuleNote note = builder.report().run.rule_notes.front();
  EXPECT_EQ(note.state, "stale");
  EXPECT_EQ(note.where.line, 3);
  EXPECT_EQ(note.match, "op/*");
  EXPECT_EQ(note.reason, "a bug");
  EXPECT_EQ(note.note, "remove it");
  builder.run(test::sample_run());
  EXPECT_TRUE(builder.report().run.rule_notes.empty()) << "a resumed run has not ended";
}

TEST(ReportBuilder, KeepsTheNameOfTheRunItGoesOnWith) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  RunInfo resumed = test::sample_run();
  resumed.run_id = "later";
  builder.run(resumed);
  EXPECT_EQ(builder.report().run.run_id, test::sample_run().run_id);
}

}  // namespace

}  // namespace assay
