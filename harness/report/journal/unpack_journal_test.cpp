#include "harness/report/journal/unpack_journal.h"

#include "harness/base/error.h"
#include "harness/report/journal/journal_text.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The names of the files in a folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

const std::string text_of_journal = "one\ntwo\nand a line that a kill cut o";

TEST(UnpackJournal, LeavesTheTextInPlaceOfTheCompressedFile) {
  const test::TemporaryFolder folder;
  const std::string large(std::size_t{1} << 20, 'x');
  folder.write("journal.jsonl.zst", compressed(text_of_journal + large));
  unpack_journal(folder.path());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"journal.jsonl"});
  EXPECT_EQ(test::read_file(folder / "journal.jsonl"), text_of_journal + large);
  unpack_journal(folder.path());
  EXPECT_EQ(test::read_file(folder / "journal.jsonl"), text_of_journal + large) << "which stays";
}

TEST(UnpackJournal, FinishesWhatAKillLeft) {
  const test::TemporaryFolder folder;
  folder.write("journal.jsonl.zst", compressed(text_of_journal));
  folder.write("journal.jsonl", text_of_journal + "ff\nthree\n");
  unpack_journal(folder.path());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"journal.jsonl"});
  EXPECT_EQ(test::read_file(folder / "journal.jsonl"), text_of_journal + "ff\nthree\n");
}

TEST(UnpackJournal, RefusesTwoDifferentJournals) {
  const test::TemporaryFolder folder;
  folder.write("journal.jsonl.zst", compressed(text_of_journal));
  for (const std::string other : {"", "one\n", "another\n"}) {
    folder.write("journal.jsonl", other);
    EXPECT_THAT(test::error_of([&] { unpack_journal(folder.path()); }),
                AllOf(HasSubstr("a journal.jsonl and a journal.jsonl.zst"), HasSubstr("move the one away")));
    EXPECT_EQ(test::read_file(folder / "journal.jsonl"), other);
    EXPECT_EQ(names_in(folder.path()).size(), 2U);
  }
}

TEST(UnpackJournal, LeavesADamagedFileAsItIs) {
  const test::TemporaryFolder folder;
  const std::string whole = compressed(text_of_journal);
  folder.write("journal.jsonl.zst", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(test::error_of([&] { unpack_journal(folder.path()); }), HasSubstr("the file ends too early"));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"journal.jsonl.zst"});
}

}  // namespace
}  // namespace assay
