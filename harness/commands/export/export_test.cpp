#include "harness/commands/export/export.h"

#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/sqlite_rows.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

namespace assay::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Export : public ::testing::Test {
 protected:
  /// Writes the journal of a night with one timed row.
  void write_night(const std::string& name, const std::string& date) const {
    const std::vector<Record> records{test::timed("a", "fused", 2.5)};
    RunInfo run = test::sample_run();
    run.run_id = run.started_utc = date;
    const std::filesystem::path folder = folder_ / ("farm/" + name + "/acme");
    std::filesystem::create_directories(folder);
    Journal journal(folder / "journal.jsonl");
    journal.run(run);
    journal.plan(test::infos_of(records));
    journal.begin(0);
    test::tell_record(journal, 0, records[0]);
    journal.done();
  }
  std::string error_of(const ExportOptions& options) {
    return test::error_of([&] { run(options); });
  }
  void run(const ExportOptions& options) {
    EXPECT_EQ(export_reports(options, {out_, log_, log_}), ExitCode::Fine);
  }
  std::filesystem::path farm() const { return folder_ / "farm"; }
  std::filesystem::path database() const { return folder_ / "a.db"; }
  const test::TemporaryFolder& folder() const { return folder_; }
  std::string out() const { return out_.str(); }
  std::string log() const { return log_.str(); }

 private:
  test::TemporaryFolder folder_;
  std::ostringstream out_, log_;
};

TEST_F(Export, TakesAllNightsOfAFarm) {
  write_night("1", "2026-01-01T00:00:00Z");
  write_night("2", "2026-01-02T00:00:00Z");
  run({.reports = {farm()}, .sqlite = database(), .openmetrics = "-"});
  EXPECT_EQ(test::sqlite_rows(database(), "SELECT date, time_us_p50 FROM timed_rows ORDER BY date"),
            (std::vector<std::vector<std::string>>{{"2026-01-01T00:00:00Z", "2.5"},
                                                   {"2026-01-02T00:00:00Z", "2.5"}}));
  EXPECT_THAT(out(), StartsWith("# TYPE "));
  EXPECT_THAT(out(), HasSubstr("} 2.5e-06 1767225600\n"));
  EXPECT_THAT(out(), EndsWith("} 2.25e-06 1767312000\n# EOF\n"));
  EXPECT_EQ(log(), database().string() + ": 2 runs, 2 rows\n");
}

TEST_F(Export, CountsARunOnceThatIsGivenTwice) {
  write_night("1", "2026-01-01T00:00:00Z");
  write_night("copy", "2026-01-01T00:00:00Z");
  run({.reports = {farm(), farm() / "1"}, .sqlite = database()});
  EXPECT_EQ(test::sqlite_cell(database(), "SELECT count(*) FROM runs"), "1");
  EXPECT_THAT(log(), HasSubstr("copy/acme/journal.jsonl is left out: its run is there already\n"));
  EXPECT_THAT(log(), EndsWith(": 1 run, 1 row\n"));
}

/// Nothing was said of the second one.
TEST_F(Export, SaysThatAFolderIsNamedTwice) {
  write_night("1", "2026-01-01T00:00:00Z");
  run({.reports = {farm(), farm()}, .sqlite = database()});
  EXPECT_EQ(test::sqlite_cell(database(), "SELECT count(*) FROM rows"), "1");
  EXPECT_THAT(log(),
              HasSubstr("warning: " + farm().string() + " is left out: all of its runs were named before\n"));
  EXPECT_THAT(log(), EndsWith(": 1 run, 1 row\n"));
}

TEST_F(Export, LeavesOutARunThatCannotBeRead) {
  write_night("1", "2026-01-01T00:00:00Z");
  folder().write("farm/2/acme/journal.jsonl", "{}\n{}\n");
  run({.reports = {farm()}, .sqlite = database()});
  EXPECT_EQ(test::sqlite_cell(database(), "SELECT count(*) FROM runs"), "1");
  EXPECT_THAT(log(), HasSubstr("2/acme/journal.jsonl is left out: "));
}

TEST_F(Export, LeavesARunWithoutATimeOutOfTheMetrics) {
  write_night("1", "yesterday");
  run({.reports = {farm()}, .sqlite = database(), .openmetrics = folder() / "a.txt"});
  EXPECT_EQ(test::sqlite_cell(database(), "SELECT date FROM runs WHERE date_s IS NULL"), "yesterday");
  EXPECT_EQ(folder().read("a.txt"), "# EOF\n");
  EXPECT_THAT(log(), HasSubstr("left out of the metrics: its run has no valid time 'yesterday'\n"));
}

TEST_F(Export, ReplacesMetricsAndADatabaseOnlyIfAsked) {
  write_night("1", "2026-01-01T00:00:00Z");
  const ExportOptions options{.reports = {farm()}, .sqlite = database(), .openmetrics = folder() / "a.txt"};
  run(options);
  EXPECT_THAT(error_of(options), HasSubstr("a.db exists; --overwrite replaces it"));
  write_night("2", "2026-01-02T00:00:00Z");
  run({.reports = {farm()},
       .sqlite = database(),
       .overwrite = true,
       .openmetrics = folder() / "a.txt",
       .newest = true});
  EXPECT_EQ(test::sqlite_cell(database(), "SELECT count(*) FROM runs"), "2");
  EXPECT_THAT(folder().read("a.txt"), HasSubstr("} 2.5e-06\n"));
}

TEST_F(Export, WritesNothingIfNoReportCanBeRead) {
  std::filesystem::create_directories(farm());
  EXPECT_THAT(error_of({.reports = {farm()}, .sqlite = database(), .openmetrics = folder() / "a.txt"}),
              HasSubstr("exporting reports: none of the reports can be read"));
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_FALSE(std::filesystem::exists(folder() / "a.txt"));
}

TEST_F(Export, RefusesWhatItCannotDo) {
  EXPECT_THAT(error_of({.reports = {farm()}}),
              HasSubstr("name a file to write, with --sqlite or --openmetrics"));
  EXPECT_THAT(error_of({.reports = {farm()}, .sqlite = "-"}), HasSubstr("not written to stdout"));
}

}  // namespace
}  // namespace assay::app
