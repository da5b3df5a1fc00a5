#include "harness/commands/farm/page.h"

#include "harness/report/journal/journal.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/writers.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <sys/stat.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PageCommand : public ::testing::Test {
 protected:
  /// The report of a night's run, as a run writes it.
  fs::path write_night(const std::string& night, const std::vector<Record>& records,
                       bool robust_access = false, bool validation = false) const {
    const fs::path folder = fs::path(folder_.path()) / "out/runs" / night / "acme";
    fs::create_directories(folder);
    RunInfo run = test::sample_run();
    run.run_id = run.started_utc = night;
    run.robust_access = robust_access;
    run.validation = validation;
    {
      Journal journal(folder / "journal.jsonl");
      test::tell(journal, records, run);
    }
    write_reports(folder, read_journal(folder / "journal.jsonl"));
    return folder;
  }

  std::string page_of(const std::vector<fs::path>& reports, const std::vector<fs::path>& base = {}) {
    std::ostringstream out;
    log_.str({});
    page({.out = "-", .reports = reports, .base = base}, {out, log_, log_});
    return out.str();
  }

  std::string log() const { return log_.str(); }
  fs::path out() const { return fs::path(folder_.path()) / "out"; }

 private:
  test::TemporaryFolder folder_;
  std::ostringstream log_;
};

TEST_F(PageCommand, ShowsRobustRunsOrOthersOfADeviceAsTheNewestIs) {
  write_night("night-1", {test::passed("a")});
  write_night("night-2", {test::passed("a")}, true);
  write_night("night-3", {test::passed("a")});
  page_of({out()});
  EXPECT_THAT(log(),
              HasSubstr("run night-2 is left out, as not compared with run night-3: the former is with "
                        "robust access (--robust-access), the latter is plain\n"));
  write_night("night-4", {test::passed("a")}, true);
  page_of({out()});
  EXPECT_THAT(log(), HasSubstr("2 runs until night-3 are left out, as not compared with run night-4: the "
                               "former are plain, the latter is with robust access (--robust-access)\n"));
}

TEST_F(PageCommand, ShowsRunsWithTheValidationLayerOrOthersOfADeviceAsTheNewestIs) {
  write_night("night-1", {test::passed("a")});
  write_night("night-2", {test::passed("a")}, false, true);
  write_night("night-3", {test::passed("a")});
  page_of({out()});
  EXPECT_THAT(log(),
              HasSubstr("run night-2 is left out, as not compared with run night-3: the former is with the "
                        "validation layer (--validation), the latter is plain\n"));
}

TEST_F(PageCommand, ShowsEveryRunOfAnOutputFolder) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  const fs::path second = write_night("night-2", {test::failed("a")});
  fs::create_directory_symlink(second, out() / "acme");
  const std::string html = page_of({out()});
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(html, page_of({second, first})) << "the link and the run behind it are one";
  EXPECT_NE(html, page_of({second})) << "without the first night there is no base";
  EXPECT_EQ(log(), "");
}

TEST_F(PageCommand, TakesOlderNightsFromTheirSummaries) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  write_night("night-2", {test::passed("a")});
  write_night("night-3", {test::passed("a")});
  const std::string html = page_of({out()});
  test::write_file(first / "journal.jsonl", "no journal");
  EXPECT_EQ(page_of({out()}), html);
  fs::remove(first / history_name);
  EXPECT_NE(page_of({out()}), html);
  EXPECT_THAT(log(), HasSubstr("journal.jsonl is left out: "));
}

TEST_F(PageCommand, LeavesOutTheNewestNightIfItsJournalIsDamaged) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  const fs::path second = write_night("night-2", {test::failed("a")});
  const std::string html = page_of({first, second});
  const fs::path third = write_night("night-3", {test::passed("a")});
  test::write_file(third / "journal.jsonl", "no journal\n");
  EXPECT_EQ(page_of({third, first, second}), html);
  EXPECT_THAT(log(), HasSubstr("warning: " + (third / "journal.jsonl").string() + " is left out: "));
  for (const fs::path& night : {first, second}) test::write_file(night / "journal.jsonl", "no journal\n");
  EXPECT_EQ(test::error_of([&] { page_of({out()}); }), "writing a page: none of the reports can be read");
}

TEST_F(PageCommand, ComparesWithTheNightBeforeADamagedOne) {
  const fs::path first = write_night("night-1", {test::failed("a")});
  const fs::path second = write_night("night-2", {test::passed("a")});
  const fs::path third = write_night("night-3", {test::failed("a")});
  const std::string html = page_of({out()}, {first});
  test::write_file(second / "journal.jsonl", "no journal\n");
  EXPECT_EQ(page_of({out()}), html) << "history.csv of the second night is intact";
  EXPECT_THAT(log(), HasSubstr("warning: the newest run is not compared with " +
                               (second / "journal.jsonl").string() + ": "));
}

TEST_F(PageCommand, ReadsTheJournalWhereTheSummaryIsMissingOrDamaged) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  write_night("night-2", {test::passed("a")});
  const std::string html = page_of({out()});
  fs::remove(first / history_name);
  EXPECT_EQ(page_of({out()}), html);
  EXPECT_EQ(log(), "");
  test::write_file(first / history_name, "a,b\r\n");
  EXPECT_EQ(page_of({out()}), html);
  EXPECT_THAT(log(),
              HasSubstr("history.csv: line 1: there is no column 'run_id'; the journal is read instead\n"));
}

TEST_F(PageCommand, ReadsTheJournalWhereTheSummaryIsNoRegularFileOrTooLarge) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  write_night("night-2", {test::passed("a")});
  const std::string html = page_of({out()});
  const fs::path summary = first / history_name;
  fs::resize_file(summary, std::uintmax_t{1} << 40);
  EXPECT_EQ(page_of({out()}), html);
  EXPECT_THAT(log(),
              HasSubstr("history.csv: it is not a regular file, has more than 1 GiB or cannot be read; "));
  fs::remove(summary);
  ASSERT_EQ(::mkfifo(summary.c_str(), 0600), 0);
  EXPECT_EQ(page_of({out()}), html) << "there is no writer to wait for";
}

TEST_F(PageCommand, ComparesWithTheBaseThatIsNamed) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  const fs::path second = write_night("night-2", {test::failed("a")});
  EXPECT_NE(page_of({second}, {first}), page_of({second}));
  const fs::path other = write_night("other", {test::passed("b")});
  EXPECT_THAT(test::error_of([&] { page_of({second}, {other}); }),
              HasSubstr("comparing with --base: no shown report has a row in common with it"));
}

TEST_F(PageCommand, DoesNotCompareRobustRunsWithPlainOnes) {
  const fs::path first = write_night("night-1", {test::passed("a")});
  const fs::path robust = write_night("night-2", {test::passed("a")}, true);
  EXPECT_THAT(page_of({out()}), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page_of({robust}, {first}), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(log(), HasSubstr("run night-2 is not compared with run night-1: the former is with robust "
                               "access (--robust-access), the latter plain\n"));
}

TEST_F(PageCommand, ComparesWithTheNamedBaseOfTheClosestKindWhateverTheOrder) {
  const fs::path plain = write_night("night-1", {test::failed("a")});
  const fs::path robust = write_night("night-2", {test::failed("a")}, true);
  const fs::path validated = write_night("night-3", {test::failed("a")}, false, true);
  const fs::path newest = write_night("night-4", {test::passed("a")});
  const auto expect_base = [&](const fs::path& base, const fs::path& other) {
    const std::string html = page_of({newest}, {base});
    EXPECT_NE(html, page_of({newest}));
    EXPECT_EQ(page_of({newest}, {base, other}), html);
    EXPECT_EQ(log(), "");
    EXPECT_EQ(page_of({newest}, {other, base}), html);
    EXPECT_EQ(log(), "");
  };
  expect_base(plain, robust);
  expect_base(plain, validated);
  expect_base(validated, robust);
}

TEST_F(PageCommand, ComparesWithTheLastNamedBaseOfOneKind) {
  const fs::path first = write_night("night-1", {test::failed("a")});
  const fs::path second = write_night("night-2", {test::passed("a")});
  const fs::path newest = write_night("night-3", {test::failed("a")});
  EXPECT_NE(page_of({newest}, {first}), page_of({newest}, {second}));
  EXPECT_EQ(page_of({newest}, {first, second}), page_of({newest}, {second}));
  EXPECT_EQ(page_of({newest}, {second, first}), page_of({newest}, {first}));
}

TEST_F(PageCommand, RefusesANightWithoutAVerdict) {
  const fs::path night = write_night("night-1", {test::passed("a")});
  std::ostringstream out;
  EXPECT_THAT(test::error_of([&] {
                page({.out = "-", .reports = {night}, .night = this->out()}, {out, out, out});
              }),
              HasSubstr("has no verdict.txt and nightly.json yet; `assay verdict` writes them"));
}

TEST_F(PageCommand, HasSeededFaultsNextToReportsOrAlone) {
  const test::TemporaryFolder faults;
  faults.write("kill_matrix.csv",
               "fault,file,line,column,operator,before,after,status,kills,killed_by,how,words,rows_ran,"
               "rows_left,cpu_s,line_hash,reason\r\n"
               "f1,a.comp,1,1,limit_dropped,x,y,survived,0,,,,3,0,0.1,abc,\r\n");
  const fs::path night = write_night("night-1", {test::passed("a")});
  const std::string without = page_of({night});
  std::ostringstream with, alone;
  page({.out = "-", .reports = {night}, .faults = faults.path()}, {with, with, with});
  page({.out = "-", .reports = {}, .faults = faults.path()}, {alone, alone, alone});
  const std::string part = R"(class="data" id="faults">)";
  EXPECT_EQ(without.find(part), std::string::npos);
  EXPECT_NE(with.str().find(part), std::string::npos);
  EXPECT_NE(alone.str().find(part), std::string::npos);
  EXPECT_GT(with.str().size(), without.size());
}

TEST_F(PageCommand, NeedsReportsOrFaults) {
  EXPECT_THAT(test::error_of([&] { page_of({}); }), HasSubstr("name reports, or a folder of `assay mutate`"));
  std::ostringstream out;
  EXPECT_THAT(test::error_of([&] {
                page({.out = "-", .reports = {}, .base = {"x"}, .faults = "y"}, {out, out, out});
              }),
              HasSubstr("--base and --night are about reports"));
}

TEST_F(PageCommand, LeavesOutAFolderWithoutReportsUnlessThereIsNoOther) {
  const fs::path empty = out() / "empty";
  fs::create_directories(empty);
  EXPECT_EQ(test::error_of([&] { page_of({empty}); }), "writing a page: none of the reports can be read");
  const fs::path night = write_night("night-1", {test::passed("a")});
  EXPECT_EQ(page_of({empty, night}), page_of({night}));
  page_of({empty, night});
  EXPECT_THAT(log(), HasSubstr("empty is left out: "));
}

}  // namespace
}  // namespace assay::app
