#include "harness/commands/read/runs_over_time.h"

#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class AllJournalsTest : public ::testing::Test {
 protected:
  void write_journal(const std::string& device_folder) const {
    folder.write(device_folder + "/journal.jsonl", "");
  }

  std::vector<std::string> found(const std::string& path) {
    LeftOut left_out(log, "looking");
    std::vector<std::string> journals;
    for (const fs::path& journal : all_journals({folder.path() / path}, left_out))
      journals.push_back(fs::canonical(journal).lexically_relative(fs::canonical(folder.path())).string());
    return journals;
  }

  test::TemporaryFolder folder;
  std::ostringstream log;
};

TEST_F(AllJournalsTest, AnOutputFolderHasAllItsRuns) {
  for (const char* run : {"out/runs/1/a", "out/runs/2/a"}) write_journal(run);
  EXPECT_THAT(found("out"), UnorderedElementsAre("out/runs/1/a/journal.jsonl", "out/runs/2/a/journal.jsonl"));
}

TEST_F(AllJournalsTest, ANightThatWasResumedHasOneReportOfEachDevice) {
  for (const char* run : {"farm/1/runs/1/a", "farm/1/runs/1/b", "farm/1/runs/2/a", "farm/2/runs/3/a"})
    write_journal(run);
  for (const char* night : {"farm/1/shards/a/1/runs/0/a", "farm/2/shards/a/1/runs/0/a"}) write_journal(night);
  EXPECT_THAT(found("farm/1"),
              UnorderedElementsAre("farm/1/runs/1/b/journal.jsonl", "farm/1/runs/2/a/journal.jsonl"));
  EXPECT_THAT(found("farm"),
              UnorderedElementsAre("farm/1/runs/1/b/journal.jsonl", "farm/1/runs/2/a/journal.jsonl",
                                   "farm/2/runs/3/a/journal.jsonl"));
}

}  // namespace
}  // namespace assay::app
