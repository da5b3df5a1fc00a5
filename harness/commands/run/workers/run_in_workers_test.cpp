#include "harness/commands/run/workers/run_in_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

WorkerCountParts cpu_of(std::size_t cores, std::size_t groups) {
  return {.is_cpu = true, .cores = cores, .groups = groups};
}

TEST(WorkerCount, IsThatOfTheCoresOnACpu) {
  EXPECT_EQ(count_of_workers(cpu_of(2, 1000)).workers, 2U);
  EXPECT_EQ(count_of_workers(cpu_of(64, 1000)).workers, 8U) << "each takes memory";
  EXPECT_EQ(count_of_workers(cpu_of(0, 1000)).workers, 1U) << "cores are not known";
}

TEST(WorkerCount, IsSmallerWhereThereIsLittleToRun) {
  EXPECT_EQ(count_of_workers(cpu_of(8, 0)).workers, 1U);
  EXPECT_EQ(count_of_workers(cpu_of(8, 7)).workers, 1U);
  EXPECT_EQ(count_of_workers(cpu_of(8, 12)).workers, 3U);
}

TEST(WorkerCount, IsOneOnAGpuWhateverIsAskedFor) {
  WorkerCountParts parts{.cores = 8, .groups = 1000};
  EXPECT_EQ(count_of_workers(parts).workers, 1U);
  EXPECT_EQ(count_of_workers(parts).note, "");
  parts.asked = 4;
  EXPECT_EQ(count_of_workers(parts).workers, 1U);
  EXPECT_THAT(count_of_workers(parts).note, HasSubstr("one worker, not in 4"));
}

TEST(WorkerCount, IsWhatWasAskedForOnACpu) {
  WorkerCountParts parts = cpu_of(2, 1000);
  for (const int asked : {1, 3, 20}) {
    parts.asked = asked;
    EXPECT_EQ(count_of_workers(parts).workers, static_cast<std::size_t>(asked));
  }
  parts.groups = 5;
  EXPECT_EQ(count_of_workers(parts).workers, 5U) << "a worker without rows is of no use";
}

TEST(WorkerCount, IsOneElsewhereUnlessMoreAreAskedFor) {
  WorkerCountParts parts = cpu_of(8, 1000);
  parts.is_elsewhere = true;
  EXPECT_EQ(count_of_workers(parts).workers, 1U);
  parts.asked = 2;
  EXPECT_EQ(count_of_workers(parts).workers, 2U);
}

TEST(WorkerCount, AsksAJournalForTheAccuracyRowsThatItHasLeft) {
  ReportBuilder journal;
  journal.run({.run_id = "r"});
  journal.plan(std::vector<RowInfo>{
      {.id = "a", .mode = "accu"}, {.id = "b", .mode = "accu"}, {.id = "c", .mode = "perf"}});
  EXPECT_EQ(accuracy_rows_left(journal), 2U);
  journal.end(0, {.status = Status::Pass});
  journal.end(1, {.status = Status::Missing});
  EXPECT_EQ(accuracy_rows_left(journal), 1U);
}

}  // namespace
}  // namespace assay::app
