#include "harness/report/record/rows_to_resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
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

}  // namespace
}  // namespace assay
