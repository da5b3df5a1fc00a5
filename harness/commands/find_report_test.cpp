#include "harness/commands/find_report.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Out {
  test::TemporaryFolder folder;

  fs::path operator/(const std::string& name) const { return folder.path() / name; }
  void write_journal(const std::string& device_folder) const {
    folder.write(device_folder + "/journal.jsonl", "");
  }
  std::string error_of(const fs::path& path) const {
    try {
      journals_of(path);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return error.what();
    }
  }
};

TEST(JournalsOf, AnOutputFolderIsTheNewestRunOfEachDevice) {
  Out out;
  for (const char* run : {"runs/1/a", "runs/2/a", "runs/1/b"}) out.write_journal(run);
  fs::create_directory_symlink("runs/2/a", out / "a");
  fs::create_directory_symlink("runs/1/b", out / "b");
  EXPECT_THAT(journals_of(out.folder.path()), ElementsAre(out / "a/journal.jsonl", out / "b/journal.jsonl"));
  EXPECT_THAT(journals_of(out / "a"), ElementsAre(out / "a/journal.jsonl"));
  EXPECT_THAT(journals_of(out / "runs/1"),
              ElementsAre(out / "runs/1/a/journal.jsonl", out / "runs/1/b/journal.jsonl"));
  EXPECT_THAT(journals_of(out / "runs/1/b/journal.jsonl"), ElementsAre(out / "runs/1/b/journal.jsonl"));
}

TEST(JournalsOf, WithoutLinksItIsTheSame) {
  Out out;
  for (const char* run : {"runs/1/a", "runs/2/a", "runs/1/b"}) out.write_journal(run);
  EXPECT_THAT(journals_of(out.folder.path()),
              ElementsAre(out / "runs/2/a/journal.jsonl", out / "runs/1/b/journal.jsonl"));
}

TEST(JournalsOf, SaysThatOnlySomeCasesWereRun) {
  Out out;
  out.write_journal("scratch/a");
  EXPECT_THAT(out.error_of(out.folder.path()), HasSubstr((out / "scratch").string() + " has the newest run"));
  EXPECT_THAT(out.error_of(out / "none"), HasSubstr("there is no file or folder"));
}

TEST(OnlyJournal, ListsTheDevicesThereAre) {
  Out out;
  out.write_journal("a");
  EXPECT_EQ(only_journal(out.folder.path()), out / "a/journal.jsonl");
  out.write_journal("b");
  try {
    only_journal(out.folder.path());
    FAIL() << "one of two devices was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("name one of them:\n  " + (out / "a").string() + "\n  " + (out / "b").string()));
  }
}

}  // namespace
}  // namespace assay::app
