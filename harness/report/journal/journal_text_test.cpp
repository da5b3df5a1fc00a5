#include "harness/report/journal/journal_text.h"

#include "harness/base/error.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/recorded_runs.h"
#include "tests/support/error_text.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompressedJournal : public ::testing::Test {
 protected:
  CompressedJournal() {
    Journal journal(folder_ / journal_name);
    test::tell(journal, {test::passed("a"), test::timed("b", "fused", 2)});
    text_ = test::read_file(journal.path());
    std::filesystem::remove(journal.path());
    test::write_file(path_, compressed(text_));
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / compressed_journal_name;
  std::string text_;
};

TEST_F(CompressedJournal, IsReadAsTheOneThatARunWrote) {
  EXPECT_LT(std::filesystem::file_size(path_), text_.size());
  EXPECT_EQ(journal_text(path_), text_);
  EXPECT_EQ(read_journal(path_).records.size(), 2U);
  EXPECT_TRUE(read_checked_journal(path_).complete);
}

TEST_F(CompressedJournal, IsFoundInItsFolder) {
  EXPECT_EQ(find_journals(folder_.path()), std::vector{path_});
  EXPECT_EQ(find_journals(folder_.path().parent_path() / folder_.path().filename()), std::vector{path_});
  test::write_file(folder_ / journal_name, text_);
  EXPECT_EQ(find_journals(folder_.path()), std::vector{folder_ / journal_name}) << "that of the newest run";
}

TEST_F(CompressedJournal, IsKnownByItsContentNotItsName) {
  test::write_file(folder_ / "any name", compressed(text_));
  EXPECT_EQ(journal_text(folder_ / "any name"), text_);
  test::write_file(path_, text_);
  EXPECT_EQ(journal_text(path_), text_);
}

TEST_F(CompressedJournal, NamesTheLineThatIsDamaged) {
  test::write_file(path_, compressed(text_ + "{}\n"));
  EXPECT_THAT(
      test::error_of([&] { read_journal(path_); }),
      StartsWith(path_.string() + ":" + std::to_string(std::count(text_.begin(), text_.end(), '\n') + 1)));
}

TEST_F(CompressedJournal, IsAnErrorWhenItIsCutOffOrDamaged) {
  const std::string bytes = compressed(text_);
  test::write_file(path_, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(
      test::error_of([&] { read_journal(path_); }),
      "reading the journal " + path_.string() + ": decompressing it with zstd: the file ends too early");
  std::string damaged = bytes;
  damaged[bytes.size() / 2] ^= 0x55;
  test::write_file(path_, damaged);
  EXPECT_THAT(test::error_of([&] { read_journal(path_); }),
              StartsWith("reading the journal " + path_.string() + ": decompressing it with zstd: "));
}

TEST(JournalText, GrowsPastWhatIsReadAtOnce) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + '\n';
  test::write_file(folder / "plain", text);
  test::write_file(folder / "small", compressed(text));
  EXPECT_EQ(journal_text(folder / "plain"), text);
  EXPECT_EQ(journal_text(folder / "small"), text);
  test::write_file(folder / "frames", compressed(text) + compressed("end\n"));
  EXPECT_EQ(journal_text(folder / "frames"), text + "end\n") << "frames may be concatenated";
  test::write_file(folder / "empty", compressed(""));
  EXPECT_EQ(journal_text(folder / "empty"), "");
}

TEST(JournalText, GivesItsLines) {
  const test::TemporaryFolder folder;
  std::vector<std::string> lines;
  const auto is_cut_off = [&](const std::string& text) {
    test::write_file(folder / "file", text);
    return for_each_line(folder / "file", [&](std::string_view line) { lines.emplace_back(line); });
  };
  EXPECT_FALSE(is_cut_off("a\n\nb\n"));
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(is_cut_off("c\nd")) << "d has no line end";
  EXPECT_EQ(lines.back(), "c");
  EXPECT_FALSE(is_cut_off(""));
}

TEST(JournalText, GivesTheLinesOfAFilePieceByPiece) {
  const test::TemporaryFolder folder;
  std::vector<std::string> lines = {"", std::string(200000, 'x'), "", "short"};
  for (std::size_t size = 65530; size < 65545; ++size)
    lines.emplace_back(size, 'y');  // around what is read at once
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  for (const std::string& bytes : {text, compressed(text)}) {
    test::write_file(folder / "file", bytes);
    std::vector<std::string> read;
    EXPECT_FALSE(for_each_line(folder / "file", [&](std::string_view line) { read.emplace_back(line); }));
    EXPECT_EQ(read, lines);
  }
  test::write_file(folder / "file", text + "cut");
  std::size_t count = 0;
  EXPECT_TRUE(for_each_line(folder / "file", [&](std::string_view) { ++count; }));
  EXPECT_EQ(count, lines.size());
  const std::string error = test::error_of([&] {
    for_each_line(folder / "file", [&](std::string_view line) {
      if (line == "short") throw Error("it is wrong");
    });
  });
  EXPECT_EQ(error, (folder / "file").string() + ":4: it is wrong");
}

// Ends as a kilobyte of zstd does that stands for a line of gigabytes.
TEST(JournalText, RefusesALineThatIsTooLong) {
  const test::TemporaryFolder folder;
  const std::string text = "a\n" + std::string(3000, 'x') + "\nb\n";
  std::vector<std::string> lines;
  const LineAction keep = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& bytes : {text, compressed(text), text.substr(0, 2900)}) {
    test::write_file(folder / "file", bytes);
    EXPECT_EQ(test::error_of([&] { for_each_line(folder / "file", keep, {}, {.line = 2048}); }),
              (folder / "file").string() +
                  ":2: this line is longer than 2048 bytes, the most that a line of a journal may have");
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "a", "a"}));
}

TEST(JournalText, PassesOverLongLinesWhereSomeoneIsTold) {
  const test::TemporaryFolder folder;
  const std::string longest(100'000, 'y');
  test::write_file(folder / "file", "a\n" + longest + "y\n" + longest + "\nb\n" + longest + "yy");
  std::vector<std::size_t> sizes;
  std::vector<std::string> told;
  EXPECT_TRUE(for_each_line(
      folder / "file", [&](std::string_view line) { sizes.push_back(line.size()); },
      [&](const std::string& why) { told.push_back(why); }, {.line = longest.size()}));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, longest.size(), 1}));
  EXPECT_EQ(told.size(), 1U);
}

TEST(JournalText, RefusesTooMuchText) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line\n";
  const auto error = [&](const std::string& bytes, const JournalLimits& limits) {
    test::write_file(folder / "file", bytes);
    return test::error_of([&] {
      for_each_line(
          folder / "file", [](std::string_view) {}, {}, limits);
    });
  };
  EXPECT_EQ(error(text, {.text = 5000}), "");
  EXPECT_EQ(error(text, {.text = 4999}),
            (folder / "file").string() + ":1: its text is longer than 4999 bytes, the most that is read");
  EXPECT_EQ(error(compressed(text), {.line = 1000}), "");
  EXPECT_THAT(
      error(compressed(text), {.line = 1000, .ratio = 10}),
      AllOf(StartsWith((folder / "file").string() + ":1: "), HasSubstr("bytes of compressed data hold"),
            HasSubstr("over 10 times as much, which no run writes")));
}

TEST(JournalText, OfABombIsRefusedBeforeItTakesTheMachine) {
  const test::TemporaryFolder folder;
  const std::string zeros(std::size_t{256} << 20, '0');
  test::write_file(folder / "file", compressed(zeros));
  EXPECT_LT(std::filesystem::file_size(folder / "file"), 100'000U);
  EXPECT_THAT(test::error_of([&] { read_journal(folder / "file"); }),
              AllOf(StartsWith((folder / "file").string() + ":1: "), HasSubstr("longer than 64 MiB")));
}

TEST(JournalText, IsDecompressedInABoundedWindow) {
  const test::TemporaryFolder folder;
  // A frame's header that asks for a window of 2 GiB, and an empty last block.
  test::write_file(folder / "file", std::string("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9));
  EXPECT_EQ(test::error_of([&] { journal_text(folder / "file"); }),
            "reading the journal " + (folder / "file").string() +
                ": decompressing it with zstd: it needs a window of more than 128 MiB; compress it anew "
                "without --long");
}

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
