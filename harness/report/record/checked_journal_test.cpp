#include "harness/report/record/checked_journal.h"

#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>

#include <functional>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A journal of one run. Lines: run, plan, begin, record, end.
std::filesystem::path write_journal(const test::TemporaryFolder& folder, const Record& record) {
  const std::filesystem::path path = folder / "journal.jsonl";
  Journal journal(path);
  journal.run(test::sample_run());
  journal.plan({&record.info, 1});
  journal.begin(record.info);
  journal.record(record);
  journal.end();
  return path;
}

Record good() {
  return test::measured("a", {{100, 101}, {100, 102, 103}});
}

std::string error_after(const std::function<void(Record&)>& edit) {
  const test::TemporaryFolder folder;
  Record record = good();
  edit(record);
  const std::filesystem::path path = write_journal(folder, record);
  const std::string error = test::error_of([&] { read_checked_journal(path); });
  if (!error.empty()) {
    EXPECT_THAT(error, StartsWith(path.string() + ":4: the record of " + record.info.id + " (perf) "));
  }
  return error;
}

TEST(CheckedJournal, ReadsWhatARunWrote) {
  EXPECT_EQ(error_after([](Record&) {}), "");
  EXPECT_EQ(error_after([](Record& r) { r = test::passed("a"); }), "");
  EXPECT_EQ(error_after([](Record& r) { r = test::failed("a"); }), "");
}

TEST(CheckedJournal, RefusesAMedianThatIsNotThatOfItsSamples) {
  EXPECT_THAT(
      error_after([](Record& r) { r.perf->time_us_p50 = 101.1; }),
      EndsWith("contradicts itself: 'time_us_p50' is 101.1 and should be 101, the median of 'sample_us'; "
               "it was not written so by a run"));
  EXPECT_EQ(error_after([](Record& r) { r.perf->time_us_p50 *= 1 + 1e-9; }), "") << "that is rounding";
}

TEST(CheckedJournal, RefusesOtherFiguresThatContradictTheSamples) {
  EXPECT_THAT(error_after([](Record& r) { r.perf->sample_us[0][0] = 90; }), HasSubstr("'time_us_min'"));
  EXPECT_THAT(error_after([](Record& r) { r.perf->sample_us[1][2] = 104; }), HasSubstr("'time_us_mean'"));
  EXPECT_THAT(error_after([](Record& r) { r.perf->blocks = 3; }), HasSubstr("'blocks' is 3 and should be 2"));
  EXPECT_THAT(error_after([](Record& r) { r.perf->samples = 4; }),
              HasSubstr("'samples' is 4 and should be 5"));
  EXPECT_THAT(error_after([](Record& r) { r.perf->sample_us[0][0] = -1; }), HasSubstr("holds -1"));
  EXPECT_THAT(error_after([](Record& r) {
                r.perf->sample_us.clear();
                r.perf->blocks = r.perf->samples = 0;
              }),
              HasSubstr("a time without a sample"));
}

TEST(CheckedJournal, RefusesAStatusThatTheRecordContradicts) {
  EXPECT_THAT(error_after([](Record& r) { r.perf.reset(); }), HasSubstr("passed and has no time"));
  EXPECT_THAT(error_after([](Record& r) { r.accuracy = test::failed("a").accuracy; }),
              HasSubstr("its accuracy says 'wrong_value'"));
}

TEST(CheckedJournal, MissesTheRecordOfACaseThatWasPlanned) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder, good());
  const std::string journal = test::read_file(path);
  const auto begin = journal.find("{\"event\":\"record\""), end = journal.find("{\"event\":\"end\"");
  test::write_file(path, journal.substr(0, begin) + journal.substr(end));
  EXPECT_THAT(test::error_of([&] { read_checked_journal(path); }),
              HasSubstr(":4: the run came to its end, and " + good().info.id + " (perf) has no record"));
  test::write_file(path, journal.substr(0, begin));
  EXPECT_FALSE(read_checked_journal(path).complete) << "a run that was killed is none that was edited";
}

TEST(CheckedJournal, ReadsAJournalThatWasCutOff) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder, good());
  const std::string journal = test::read_file(path);
  test::write_file(path, journal.substr(0, journal.find("\"sample_us\"")));
  EXPECT_TRUE(read_checked_journal(path).cut_off);
}

TEST(CheckedJournal, NamesTheLineOfAFieldThatIsMissing) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_journal(folder, good());
  std::string journal = test::read_file(path);
  journal.replace(journal.find("\"batch\""), 7, "\"bunch\"");
  test::write_file(path, journal);
  EXPECT_THAT(test::error_of([&] { read_checked_journal(path); }),
              HasSubstr(path.string() + ":4: this line of the journal is damaged: the field "
                                        "'record.perf.batch' is missing"));
}

}  // namespace
}  // namespace assay
