#include "harness/report/journal/recorded_runs.h"

#include "harness/report/journal/journal.h"
#include "tests/support/records.h"
#include "tests/support/simulated_series.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>

#include <functional>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> strings(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

TEST(FindJournals, TakesAJournalADeviceOrAFolderOfDevices) {
  const test::TemporaryFolder folder;
  for (const char* device : {"b", "a", "empty"}) std::filesystem::create_directories(folder / device);
  test::write_file(folder / "b/journal.jsonl", "");
  test::write_file(folder / "a/journal.jsonl", "");
  const std::string a = folder / "a/journal.jsonl", b = folder / "b/journal.jsonl";
  EXPECT_THAT(strings(find_journals(a)), ElementsAre(a));
  EXPECT_THAT(strings(find_journals(folder / "b")), ElementsAre(b));
  EXPECT_THAT(strings(find_journals(folder.path())), ElementsAre(a, b));
}

TEST(FindJournals, SaysWhatItLookedForWhereThereIsNone) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(test::error_of([&] { find_journals(folder.path()); }),
              HasSubstr("nor a folder right below it has a journal.jsonl"));
  EXPECT_THAT(test::error_of([&] { find_journals(folder / "none"); }),
              HasSubstr("there is no file or folder " + (folder / "none").string()));
}

// Root may read every folder, but no one can follow a link to itself.
TEST(FindJournals, SaysWhyAPlaceCannotBeRead) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "out/device");
  std::filesystem::create_symlink("itself", folder / "itself");
  std::filesystem::create_symlink("journal.jsonl", folder / "out/device/journal.jsonl");
  for (const auto& [path, named] : {std::pair(folder / "itself", folder / "itself"),
                                    std::pair(folder / "out/device", folder / "out/device/journal.jsonl"),
                                    std::pair(folder / "out", folder / "out/device/journal.jsonl")}) {
    try {
      find_journals(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                "cannot read the report " + named.string() + ": Too many levels of symbolic links");
      EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    }
  }
}

// A glob that knows only a star at the end.
bool prefix_glob(std::string_view pattern, std::string_view text) {
  return text.starts_with(pattern.substr(0, pattern.find('*')));
}

RunReport report_with(const std::vector<std::string>& ids) {
  std::vector<Record> records;
  for (const std::string& id : ids) {
    for (const char* mode : {"accu", "perf"}) {
      records.emplace_back().info.id = id;
      records.back().info.mode = mode;
    }
  }
  return test::report_of(std::move(records));
}

TEST(MatchingIds, PrefersTheIdItself) {
  const RunReport report = report_with({"op/a/fused", "op/a/fused2"});
  EXPECT_THAT(matching_ids(report, "op/a/fused", prefix_glob), ElementsAre("op/a/fused"));
}

TEST(MatchingIds, TakesAGlobOrAPart) {
  const RunReport report = report_with({"op/b/1", "op/a/1", "op/a/2"});
  EXPECT_THAT(matching_ids(report, "op/a*", prefix_glob), ElementsAre("op/a/1", "op/a/2"));
  EXPECT_THAT(matching_ids(report, "/1", prefix_glob), ElementsAre("op/b/1", "op/a/1"));
  EXPECT_THAT(matching_ids(report, "/2", prefix_glob), ElementsAre("op/a/2"));
  EXPECT_THAT(matching_ids(report, "/3", prefix_glob), ElementsAre());
}

TEST(NearestIds, RanksByTheMostLikePart) {
  const RunReport report = report_with({"q8ta_clone/1x4/4W4C", "q8ta_pixel_shuffle/1x96/4W4C", "quantize/7"});
  EXPECT_THAT(nearest_ids(report, "Pixel_shufle", 1), ElementsAre("q8ta_pixel_shuffle/1x96/4W4C"));
  EXPECT_THAT(nearest_ids(report, "q8_clone/1x4", 2),
              ElementsAre("q8ta_clone/1x4/4W4C", "q8ta_pixel_shuffle/1x96/4W4C"));
  EXPECT_EQ(nearest_ids(report, "anything", 10).size(), 3U);
  EXPECT_THAT(nearest_ids(test::report_of({}), "anything", 10), ElementsAre());
}

TEST(RowsOf, FindsBothModes) {
  const RunReport report = report_with({"a", "b"});
  const std::vector<const Record*> rows = rows_of(report, "b");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]->info.mode, "accu");
  EXPECT_EQ(rows[1]->info.mode, "perf");
  EXPECT_TRUE(rows_of(report, "c").empty());
}

Record good() {
  Record record = test::measured("a", {{100, 101}, {100, 102, 103}});
  record.accuracy = test::passed("a").accuracy;
  return record;
}

// A journal of one run of one row. Lines: run, plan, begin, judged, two blocks, end, done.
std::filesystem::path write_journal(const test::TemporaryFolder& folder, const Record& record = good()) {
  Journal journal(folder / "journal.jsonl");
  test::tell(journal, {record});
  return journal.path();
}

std::string check_error_of(const std::filesystem::path& path) {
  return test::error_of([&] { read_checked_journal(path); });
}

// What is said of the journal of good() in whose text `from` is replaced once.
std::string error_after(const std::string& from, const std::string& to, int line) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder);
  std::string text = test::read_file(path);
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  test::write_file(path, text.replace(at, from.size(), to));
  const std::string error = check_error_of(path);
  EXPECT_THAT(error, StartsWith(path.string() + ":" + std::to_string(line) + ": "));
  return error;
}

// The same of the journal without that line; it is said of line `told` of what is left.
std::string error_without(const std::string& start, int told) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder);
  const std::string text = test::read_file(path);
  const auto at = text.find(start);
  EXPECT_NE(at, text.npos) << start;
  test::write_file(path, text.substr(0, at) + text.substr(text.find('\n', at) + 1));
  const std::string error = check_error_of(path);
  EXPECT_THAT(error, StartsWith(path.string() + ":" + std::to_string(told) + ": "));
  return error;
}

TEST(CheckedJournal, ReadsWhatARunWrote) {
  for (const Record& record : {good(), test::passed("a"), test::failed("a"),
                               test::without_answer("a", Status::Missing, "not run")}) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(check_error_of(write_journal(folder, record)), "");
  }
}

TEST(CheckedJournal, RefusesSamplesThatAreNoTimes) {
  EXPECT_THAT(
      error_after("[100000000,", "[0,", 5),
      EndsWith("the record of shuffle/a/1x16x4x8/4W4C.4W4C/fused (perf) contradicts itself: 'samples_ns' "
               "holds 0, which is not a time; no run writes such a record"));
  EXPECT_THAT(error_after("[100000000,", "[-100000000,", 5),
              HasSubstr("holds -100000000, which is not a time"));
  EXPECT_THAT(error_after("[100000000,", "[\"inf\",", 5), HasSubstr("holds inf"));
  EXPECT_THAT(error_after("[100000000,101000000]", "[]", 5), HasSubstr("'samples_ns' is empty"));
  EXPECT_THAT(error_after("\"batch\":1000", "\"batch\":0", 5), HasSubstr("'block.batch' is 0"));
  EXPECT_THAT(error_after("\"batch\":1000", "\"batch\":100", 6),
              HasSubstr("'batch' is 1000 and was 100 in the block before"));
}

TEST(CheckedJournal, RefusesBlocksThatDoNotFollowEachOther) {
  EXPECT_THAT(error_without("{\"event\":\"block\"", 5), HasSubstr("its block 1 stands where block 0 should"));
  EXPECT_THAT(error_after("\"round\":1", "\"round\":0", 6),
              HasSubstr("its block 0 stands where block 1 should"));
}

// What is said of a journal whose row was cut short after one block and went on with this one.
std::string error_of_resumed(const Block& next, const std::string& output_hash) {
  const test::TemporaryFolder folder;
  {
    Journal journal(folder / "journal.jsonl");
    const Record row = good();
    journal.run(test::sample_run());
    journal.plan(test::infos_of({row}));
    journal.begin(0);
    journal.judged(0, *row.accuracy);
    journal.block(0, {.round = 0, .samples_ns = {1}});
    journal.end(0, {.status = Status::Interrupted});
    journal.begin(0);
    AccuracyResult again = *row.accuracy;
    again.output_hash = output_hash;
    journal.judged(0, again);
    journal.block(0, next);
    journal.end(0, {.status = Status::Pass, .perf = PerfResult{}});
    journal.done();
  }
  return check_error_of(folder / "journal.jsonl");
}

TEST(CheckedJournal, ReadsARowThatWentOn) {
  const std::string same = good().accuracy->output_hash;
  EXPECT_EQ(error_of_resumed({.round = 1, .samples_ns = {1}}, same), "");
  EXPECT_EQ(error_of_resumed({.round = 3, .skipped = 2, .samples_ns = {1}}, same), "");
  EXPECT_EQ(error_of_resumed({.round = 0, .samples_ns = {1}}, "another"), "");
  EXPECT_THAT(error_of_resumed({.round = 0, .samples_ns = {1}}, same),
              HasSubstr("its block 0 stands where block 1 should"));
  EXPECT_THAT(error_of_resumed({.round = 1, .samples_ns = {1}}, "another"),
              HasSubstr("its block 1 stands where block 0 should"));
}

TEST(CheckedJournal, RefusesAStatusThatTheEventsContradict) {
  EXPECT_THAT(error_after("\"perf\":{", "\"pref\":{", 7), HasSubstr("passed and has no time"));
  EXPECT_THAT(error_after("\"event\":\"judged\",\"row\":0",
                          "\"event\":\"judged\",\"row\":0,\"metric\":\"constant\"", 7),
              HasSubstr("its accuracy says 'constant'"));
  EXPECT_THAT(error_after("{\"event\":\"done\"}", "{\"event\":\"end\",\"row\":0,\"status\":\"PASS\"}", 8),
              HasSubstr("it ends twice"));
}

TEST(CheckedJournal, RefusesARowOfModeAccuThatPassedUnjudged) {
  const test::TemporaryFolder folder;
  Record record = test::passed("a");
  record.accuracy.reset();
  EXPECT_THAT(check_error_of(write_journal(folder, record)), HasSubstr("passed and was not judged"));
}

TEST(CheckedJournal, RefusesATimeWithoutASample) {
  const test::TemporaryFolder folder;
  Record record = good();
  record.perf->sample_us.clear();
  EXPECT_THAT(check_error_of(write_journal(folder, record)), HasSubstr(":5: "));
  EXPECT_THAT(check_error_of(folder / "journal.jsonl"), HasSubstr("it has a time but no sample"));
}

TEST(CheckedJournal, MissesTheEndOfARowThatWasPlanned) {
  EXPECT_THAT(error_without("{\"event\":\"end\"", 7), HasSubstr("the run is complete, but " + good().info.id +
                                                                " (perf) has no end: lines are missing"));
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder);
  const std::string journal = test::read_file(path);
  test::write_file(path, journal.substr(0, journal.find("{\"event\":\"end\"")));
  EXPECT_FALSE(read_checked_journal(path).complete) << "a run that was killed is none that was edited";
}

TEST(CheckedJournal, RefusesARowThatIsPlannedTwice) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "journal.jsonl");
  test::tell(journal, {test::passed("a"), test::passed("a")});
  EXPECT_THAT(check_error_of(journal.path()),
              HasSubstr(":2: " + good().info.id + " (accu) is planned twice"));
}

TEST(CheckedJournal, ReadsAJournalThatWasCutOff) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder);
  const std::string journal = test::read_file(path);
  test::write_file(path, journal.substr(0, journal.find("\"samples_ns\"")));
  EXPECT_TRUE(read_checked_journal(path).cut_off);
}

TEST(CheckedJournal, NamesTheLineOfAFieldThatIsMissing) {
  EXPECT_THAT(error_after("\"batch\"", "\"bunch\"", 5),
              HasSubstr(":5: this line of the journal is damaged: the field 'block.batch' is missing; "));
}

}  // namespace

}  // namespace assay
