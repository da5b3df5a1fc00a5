#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/report_text.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Journals as they are read: whole, and what can be salvaged of damaged ones.

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ReadJournal, WithoutAPlanIsAnErrorAndNoShorterReport) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(test::sample_run());
    journal.done();
  }
  EXPECT_THAT(test::error_of([&] { read_journal(path); }),
              StartsWith(path.string() + ":2: the journal ends here without a plan"));
}

/// A journal of three rows, of which `damage` changes a line that begins so.
SalvagedJournal salvage_damaged(const std::string& beginning) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    test::tell(journal, {test::passed("a"), test::failed("b"), test::timed("c", "fused", 2)});
  }
  std::string text = test::read_file(path);
  const auto at = text.find(beginning);
  EXPECT_NE(at, text.npos) << beginning;
  text[at] = '\x01';
  test::write_file(path, text);
  EXPECT_THAT(test::error_of([&] { read_journal(path); }), HasSubstr("report --salvage"));
  return salvage_journal(path);
}

std::vector<Status> statuses_of(const RunReport& report) {
  std::vector<Status> statuses;
  for (const Record& record : report.records) statuses.push_back(record.status);
  return statuses;
}

TEST(Journal, OfAnotherSchemaIsRefusedAndNotCalledDamaged) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  test::write_file(path, R"({"event":"run","schema":2,"run_id":"x"})"
                         "\n");
  const std::string expected =
      path.string() +
      ":1: the journal has schema 2, and this assay reads schema 3: read it with the assay that wrote it";
  EXPECT_EQ(test::error_of([&] { read_journal(path); }), expected);
  EXPECT_EQ(test::error_of([&] { salvage_journal(path); }), expected);
}

TEST(SalvageJournal, LeavesOutDamagedLinesAndTheRowsTheyBelongTo) {
  const std::vector<Status> whole{Status::Pass, Status::Fail, Status::Pass};
  const std::vector<Status> without_c{Status::Pass, Status::Fail, Status::Missing};
  for (const auto& [beginning, statuses] :
       {std::pair(R"({"event":"run")", whole), std::pair(R"({"event":"begin","row":0)", whole),
        std::pair(R"({"event":"end","row":2)", without_c),
        std::pair(R"({"event":"block","row":2)", without_c), std::pair(R"({"event":"done")", whole)}) {
    const SalvagedJournal salvaged = salvage_damaged(beginning);
    ASSERT_EQ(salvaged.left_out.size(), 1U) << beginning;
    EXPECT_THAT(salvaged.left_out[0].why, HasSubstr("not valid JSON"));
    EXPECT_EQ(statuses_of(salvaged.report), statuses) << beginning;
    EXPECT_FALSE(salvaged.report.complete);
    EXPECT_THAT(run_json(salvaged.report), HasSubstr("\"journal_lines_left_out\": 1"));
  }
}

TEST(SalvageJournal, RefusesAnotherSchemaHoweverItIsWritten) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    test::tell(journal, {test::passed("a")});
  }
  const std::string text = test::read_file(path);
  const std::string schema = R"("schema":3,)";
  for (const std::string other : {"99", "99.5", "\"99\"", "null", "-1"}) {
    std::string changed = text;
    test::write_file(path, changed.replace(text.find(schema), schema.size(), "\"schema\":" + other + ","));
    EXPECT_THAT(test::error_of([&] { salvage_journal(path); }),
                HasSubstr(":1: the journal has schema " + other + ", and this assay reads schema 3"));
  }
}

TEST(SalvageJournal, NamesTheFirstOfManyBadLines) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    test::tell(journal, {test::passed("a")});
  }
  std::string bad;
  for (int i = 0; i < 1'000'000; ++i) bad += "\n";
  for (int i = 0; i < 100; ++i) bad += "{\"event\":\"begin\",\"row\":7}\n";
  test::write_file(path, test::read_file(path) + bad +
                             R"({"event":"begin","row":0})"
                             "\n");
  const SalvagedJournal salvaged = salvage_journal(path);
  EXPECT_EQ(salvaged.left_out_count, 1'000'100U);
  EXPECT_EQ(salvaged.left_out.size(), most_left_out_named);
  EXPECT_EQ(salvaged.report.lines_left_out, 1'000'100U);
  EXPECT_EQ(statuses_of(salvaged.report), std::vector{Status::Missing}) << "the last line was read";
}

TEST(SalvageJournal, SaysSoWhereNoRowIsLeft) {
  EXPECT_THAT(test::error_of([] { salvage_damaged(R"({"event":"plan")"); }),
              HasSubstr("the plan, which lists the rows, is lost"));
}

TEST(ReadJournal, NamesTheDamagedLine) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(test::sample_run());
  }
  test::write_file(path, test::read_file(path) + "{\"event\":\"rec\n{\"event\":\"done\"}\n");
  EXPECT_THAT(test::error_of([&] { read_journal(path); }),
              StartsWith(path.string() +
                         ":2: this line of the journal is damaged: it is not valid JSON from column"));
  test::write_file(path, "\n");
  EXPECT_THAT(test::error_of([&] { read_journal(path); }), StartsWith(path.string() + ":1: "));
}

TEST(ReadJournal, TellsWhatToNameInsteadOfAnotherFileOfTheReport) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "perf.csv", "schema,run_id\n4,20260102T030405Z-1a2b3c\n");
  EXPECT_EQ(
      test::error_of([&] { read_journal(folder / "perf.csv"); }),
      (folder / "perf.csv").string() +
          ":1: this is not a journal, each line of which is a JSON object: name the folder of a run's "
          "report, or the journal.jsonl in it; if its first line is damaged, `assay report --salvage` reads "
          "around it");
}

TEST(ReadJournal, TellsOfAFileThatCannotBeRead) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::error_of([&] { read_journal(folder / "none"); }),
            "cannot read the journal " + (folder / "none").string() + ": No such file or directory");
  EXPECT_THAT(test::error_of([&] { read_journal(folder.path()); }), StartsWith("cannot read the journal "));
}

}  // namespace
}  // namespace assay
