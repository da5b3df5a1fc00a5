#include "harness/report/record/killed_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

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
  /// As a run does that goes on with it and is killed in the same row.
  void go_on() {
    const KilledRow killed = killed_row(builder).value();
    builder.end(killed.row, killed.end);
    builder.begin(1);
  }
  ReportBuilder builder;
};

TEST(KilledRow, IsInterruptedAndRunAgain) {
  const Journal journal;
  const KilledRow killed = killed_row(journal.builder).value();
  EXPECT_EQ(killed.row, 1U);
  EXPECT_EQ(killed.end.status, Status::Interrupted);
}

TEST(KilledRow, IsACrashWhenItWasRunningEachOfThreeTimes) {
  Journal journal;
  journal.go_on();
  EXPECT_EQ(killed_row(journal.builder).value().end.status, Status::Interrupted);
  journal.go_on();
  const KilledRow killed = killed_row(journal.builder).value();
  EXPECT_EQ(killed.end.status, Status::Crash);
  EXPECT_THAT(killed.end.reason, HasSubstr("the 2 times that it was gone on with"));
}

TEST(KilledRow, IsNoneWhereEveryRowThatBeganHasEnded) {
  Journal journal;
  journal.builder.end(1, {.status = Status::Pass});
  EXPECT_FALSE(killed_row(journal.builder).has_value());
}

}  // namespace
}  // namespace assay
