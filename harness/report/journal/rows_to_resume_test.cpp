#include "harness/report/journal/rows_to_resume.h"

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

TEST(KilledRow, IsACrashWhenItWasRunningEachOfThreeTimes) {
  Journal journal;
  journal.go_on();
  EXPECT_EQ(killed_rows(journal.builder).at(0).end.status, Status::Interrupted);
  journal.go_on();
  const KilledRow killed = killed_rows(journal.builder).at(0);
  EXPECT_EQ(killed.end.status, Status::Crash);
  EXPECT_THAT(killed.end.reason, HasSubstr("as it was 2 times before"));
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

}  // namespace
}  // namespace assay
