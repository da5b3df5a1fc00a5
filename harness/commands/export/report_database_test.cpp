#include "harness/commands/export/report_database.h"

#include "harness/base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/fenced_code.h"
#include "tests/support/records.h"
#include "tests/support/sqlite_rows.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>
#include <set>

namespace assay::app {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

TEST(ExportTables, AreInTheDocument) {
  const std::string document = test::read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/export.md");
  for (const SqlTable& table : export_tables()) {
    std::string meaning = table.meaning;
    meaning[0] = static_cast<char>(std::toupper(meaning[0]));
    EXPECT_THAT(document,
                HasSubstr("\n#### " + table.name + "\n\n" + meaning + ".\n\n" + markdown_table(table) + "\n"))
        << table.name;
  }
}

TEST(ExportTables, HaveEveryColumnOfTheCsvFiles) {
  std::set<std::string> ours{"dispatches"};  // a table
  for (const auto& columns : {columns_of_runs(), columns_of_rows(), columns_of_times()}) {
    for (const Column& column : columns) ours.insert(column.name);
  }
  for (const auto& columns : {accu_columns(), perf_columns(), history_columns()}) {
    for (const Column& column : columns) EXPECT_TRUE(ours.contains(column.name)) << column.name;
  }
}

TEST(ExportTables, HaveColumnsWithNamesOfTheirOwnAndMeaningsOfOneLine) {
  for (const SqlTable& table : export_tables()) {
    std::set<std::string> names;
    for (const SqlColumn& column : table.columns) {
      EXPECT_TRUE(names.insert(column.name).second) << table.name << '.' << column.name;
      EXPECT_EQ(column.meaning.find('\n'), std::string::npos) << table.name << '.' << column.name;
    }
  }
}

const Column& column_of(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns) {
    if (column.name == name) return column;
  }
  throw std::out_of_range(name);
}

TEST(ExportTables, HaveTheValuesOfTheCsvFilesByTheirTypes) {
  const RunInfo run = test::sample_run();
  Record record = test::timed("fast", "fused", 2.5);
  const auto row = [&](const char* name) {
    return value_of(column_of(columns_of_rows(), name), run, record);
  };
  const auto time = [&](const char* name) {
    return value_of(column_of(columns_of_times(), name), run, record);
  };
  EXPECT_EQ(time("time_us_p50"), SqlValue(2.5));
  EXPECT_EQ(time("blocks"), SqlValue(std::int64_t{2}));
  EXPECT_EQ(time("verified"), SqlValue(std::int64_t{1}));
  EXPECT_EQ(time("spills"), SqlValue());
  EXPECT_EQ(time("pct_peak"), SqlValue(12.5));
  EXPECT_EQ(time("gain_us"), SqlValue(2.1875));
  EXPECT_EQ(row("tune"), SqlValue());
  record.info.seed = 18446744073709551615ULL;
  EXPECT_EQ(row("seed"), SqlValue(std::string("18446744073709551615")));
  record.info.params = "a\x1b[31m";
  EXPECT_EQ(row("params"), SqlValue(std::string("a\\x1b[31m")));
}

TEST(ExportTables, KnowNoGainWithoutACeiling) {
  Record record = test::timed("fast", "fused", 2.5);
  record.perf->pct_peak_bw = 0;
  const SqlValue gain = value_of(column_of(columns_of_times(), "gain_us"), test::sample_run(), record);
  EXPECT_EQ(gain, SqlValue());
}

class ReportsInSql : public ::testing::Test {
 protected:
  void write(const std::vector<RunReport>& reports) const {
    ReportDatabase database(file(), true);
    for (const RunReport& report : reports) database.add(report);
    database.finish();
  }
  std::filesystem::path file() const { return folder_ / "a.db"; }
  Rows rows(const std::string& query) const { return test::sqlite_rows(file(), query); }
  std::string cell(const std::string& query) const { return test::sqlite_cell(file(), query); }
  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ReportsInSql, HaveARowForEachRecord) {
  const std::vector<Record> records = test::all_kinds();
  write({test::report_of(records)});
  EXPECT_EQ(cell("SELECT count(*) FROM rows"), std::to_string(records.size()));
  EXPECT_EQ(cell("SELECT count(DISTINCT status) FROM rows"), "16");
  EXPECT_EQ(cell("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(rows("PRAGMA foreign_key_check"), Rows{});
  EXPECT_EQ(cell("PRAGMA user_version"), "2");
}

TEST_F(ReportsInSql, SayWhatRan) {
  RunReport killed = test::report_of({test::passed("a")});
  killed.complete = false;
  killed.run.shard = {.index = 1, .count = 4};
  write({test::report_of({}), killed});
  EXPECT_EQ(rows("SELECT run, run_id, device, driver, git_commit, date, date_s, complete, shard FROM runs"),
            (Rows{{"1", "20260102T030405Z-1a2b3c", "Acme GPU 9", "Acme 12.3", "b1a8850ccc06",
                   "2026-01-02T03:04:05Z", "1767323045", "1", "NULL"},
                  {"2", "20260102T030405Z-1a2b3c", "Acme GPU 9", "Acme 12.3", "b1a8850ccc06",
                   "2026-01-02T03:04:05Z", "1767323045", "0", "1/4"}}));
  EXPECT_EQ(rows("SELECT run, id FROM rows"), (Rows{{"2", test::passed("a").info.id}}));
}

TEST_F(ReportsInSql, SayWhichRunsHadTheValidationLayerOn) {
  RunReport validated = test::report_of({});
  validated.run.validation = true;
  write({test::report_of({}), validated});
  EXPECT_EQ(rows("SELECT robust_access, validation FROM runs"), (Rows{{"0", "0"}, {"0", "1"}}));
}

TEST_F(ReportsInSql, HaveTimesOnlyOfRightKernels) {
  write({test::report_of(test::all_kinds())});
  EXPECT_EQ(
      rows("SELECT impl, cache, time_us_p50, pct_peak, limited_by FROM timed_rows ORDER BY time_us_p50"),
      (Rows{{"fused", "hot", "2.5", "12.5", "latency"}, {"unfused", "hot", "10.0", "12.5", "latency"}}));
  EXPECT_EQ(
      rows("SELECT row, position, label, role, time_us FROM dispatches WHERE time_us = 10"),
      (Rows{{cell("SELECT row FROM timed_rows WHERE impl = 'unfused'"), "0", "shuffle", "op", "10.0"}}));
}

TEST_F(ReportsInSql, KeepHostileTextAndNumbersApart) {
  Record odd = test::failed("odd");
  odd.reason = "'); DROP TABLE rows; --";
  odd.accuracy->got = std::numeric_limits<double>::quiet_NaN();
  write({test::report_of({odd})});
  EXPECT_EQ(rows("SELECT reason, got, expected, err_over_bound FROM rows"),
            (Rows{{"'); DROP TABLE rows; --", "NULL", "12.0", "NULL"}}));
}

TEST_F(ReportsInSql, HaveParametersOneByOne) {
  Record record = test::passed("a");
  record.info.params = "M=8 scale=0.5 shape=1x2=3 bias= flag";
  write({test::report_of({record})});
  EXPECT_EQ(rows("SELECT key, value, typeof(value) FROM params ORDER BY rowid"),
            (Rows{{"M", "8", "integer"},
                  {"scale", "0.5", "real"},
                  {"shape", "1x2=3", "text"},
                  {"bias", "NULL", "null"},
                  {"flag", "NULL", "null"}}));
}

TEST_F(ReportsInSql, HaveTheCeilingsThatWereMeasured) {
  write({test::report_of({})});
  EXPECT_EQ(rows("SELECT run, ceiling, gops FROM ceilings"),
            (Rows{{"1", "fp32", "50000.0"}, {"1", "fp16", "100000.0"}, {"1", "dot4x8", "90000.0"}}));
  EXPECT_EQ(rows("SELECT * FROM bandwidths"), (Rows{{"1", "1048576", "2000.0", "2500.0", "1500.0"},
                                                    {"1", "1073741824", "500.0", "520.0", "480.0"}}));
}

TEST_F(ReportsInSql, SayInTheirSchemaWhatColumnsMean) {
  write({});
  EXPECT_THAT(cell("SELECT sql FROM sqlite_master WHERE name = 'times'"),
              HasSubstr("  time_us_p50 REAL,  -- us: median of the samples: the time\n"));
}

TEST_F(ReportsInSql, AreFoundByAnIndex) {
  write({test::report_of(test::all_kinds())});
  const auto plan = [&](const std::string& query) { return rows("EXPLAIN QUERY PLAN " + query); };
  EXPECT_THAT(plan("SELECT * FROM rows WHERE id = 'a'"), Contains(Contains(HasSubstr("rows_by_id"))));
  EXPECT_THAT(plan("SELECT row FROM params WHERE key = 'M' AND value = 8"),
              Contains(Contains(HasSubstr("params_by_key_value"))));
  EXPECT_THAT(plan("SELECT * FROM params WHERE row = 1"), Contains(Contains(HasSubstr("params_by_row"))));
}

TEST_F(ReportsInSql, DoNotExistUntilTheyAreComplete) {
  folder().write("a.db", "old");
  {
    ReportDatabase database(file(), true);
    database.add(test::report_of(test::all_kinds()));
    EXPECT_EQ(folder().read("a.db"), "old");
  }
  EXPECT_EQ(folder().read("a.db"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder().path()), {}), 1);
}

TEST_F(ReportsInSql, ReplaceNothingUnasked) {
  folder().write("a.db", "old");
  const auto error = test::error_of([&] { ReportDatabase(file(), false); });
  EXPECT_THAT(error, AllOf(HasSubstr(file().string() + " exists"), HasSubstr("--overwrite")));
  EXPECT_EQ(folder().read("a.db"), "old");
  for (const std::filesystem::path& no_file : {folder().path(), std::filesystem::path("/dev/null")}) {
    EXPECT_THAT(test::error_of([&] { ReportDatabase(no_file, true); }), HasSubstr("is not a file"));
  }
}

TEST_F(ReportsInSql, ReplaceWhatALinkPointsTo) {
  folder().write("real.db", "old");
  std::filesystem::create_symlink("real.db", file());
  write({test::report_of({test::passed("a")})});
  EXPECT_TRUE(std::filesystem::is_symlink(file()));
  EXPECT_EQ(test::sqlite_cell(folder() / "real.db", "SELECT count(*) FROM rows"), "1");
}

RunReport sql_night(const std::string& date, double a_us, double b_us) {
  RunReport report = test::report_of({test::timed("a", "fused", a_us), test::timed("b", "fused", b_us)});
  report.run.started_utc = date;
  report.records.back().status = Status::Pass;
  return report;
}

TEST_F(ReportsInSql, AnswerTheQueriesOfTheDocument) {
  RunReport newest = sql_night("2026-01-03T00:00:00Z", 12.5, 5);
  newest.records.push_back(test::failed("c"));
  RunReport older = sql_night("2026-01-01T00:00:00Z", 10, 5.25);
  older.records.push_back(test::failed("d"));
  write({newest, older});  // in any order
  const std::string document = test::read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/export.md");
  const std::vector<std::string> queries = test::fenced_code(document, "sql");
  ASSERT_EQ(queries.size(), 4U);
  EXPECT_EQ(rows(queries[0]), (Rows{{"shuffle", "Acme GPU 9", "2", "12.5", "15.0"}}));
  EXPECT_EQ(rows(queries[2]), (Rows{{"2026-01-03T00:00:00Z", "b1a8850ccc06", "Acme GPU 9",
                                     test::timed("a", "fused", 1).info.id, "hot", "12.5", "1.25"}}));
  EXPECT_EQ(rows(queries[3]), (Rows{{"Acme GPU 9", test::failed("c").info.id, "accu", "FAIL", "wrong_value",
                                     "NULL", "1 of 2 outputs is wrong"}}));
}

}  // namespace

}  // namespace assay::app
