#include "harness/report/writers/history.h"

#include "harness/report/writers/csv.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>

#include <limits>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<std::string>> history_rows_of(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  for_each_csv_row(text, [&](const std::vector<std::string>& cells, std::size_t) { rows.push_back(cells); });
  return rows;
}

TEST(CsvReader, ReadsBackWhatIsWritten) {
  const std::vector<std::string> cells{"a",    "",    "b,c", "\"q\"",      " blank",
                                       "=1+1", "'=x", "-5",  "two\nlines", ""};
  EXPECT_THAT(history_rows_of(csv_row(cells) + csv_row({"x"})), ElementsAre(cells, ElementsAre("x")));
}

TEST(CsvReader, TellsTheLineOfEachRow) {
  std::vector<std::size_t> lines;
  for_each_csv_row("a\r\n\"b\nc\"\r\nd", [&](const auto&, std::size_t line) { lines.push_back(line); });
  EXPECT_THAT(lines, ElementsAre(1, 2, 4));
}

TEST(CsvReader, RefusesAQuoteThatIsNotClosed) {
  EXPECT_EQ(test::error_of([] { history_rows_of("a\r\n\"b\r\n"); }), "line 2: a quote is not closed");
}

struct Told {
  HistoryRun run;
  std::vector<HistoryRow> rows;
};

Told told_by(std::string_view text) {
  Told told;
  told.run = read_history(text, [&](const HistoryRow& row) { told.rows.push_back(row); });
  return told;
}

TEST(History, TellsWhatTheReportTells) {
  RunReport report = test::report_of({test::timed("a", "fused", 2.5), test::failed("b")});
  report.run.robust_access = true;
  report.records[0].info.tune = "local_size=64";
  report.records[0].perf->program_hash = "cafe";
  Told direct;
  direct.run = read_history(report, [&](const HistoryRow& row) { direct.rows.push_back(row); });
  const Told read = told_by(test::history_csv(report));
  for (const Told& told : {direct, read}) {
    EXPECT_EQ(told.run.run_id, report.run.run_id);
    EXPECT_EQ(told.run.device, "Acme GPU 9");
    EXPECT_EQ(told.run.device_key, "uuid:000102030405060708090a0b0c0d0e0f");
    EXPECT_EQ(told.run.driver, "Acme 12.3");
    EXPECT_EQ(told.run.commit, "b1a8850ccc06");
    ASSERT_EQ(told.rows.size(), 2U);
    EXPECT_EQ(told.rows[0].key, key_of(report.records[0].info));
    EXPECT_EQ(told.rows[0].time_us, 2.5);
    EXPECT_EQ(told.rows[0].ci_pct, 0.75);
    EXPECT_EQ(told.rows[0].output_hash, "9999aaaabbbbccccddddeeeeffff0000");
    EXPECT_TRUE(told.run.robust_access);
    EXPECT_EQ(told.rows[0].tune, "local_size=64");
    EXPECT_EQ(told.rows[0].program, "cafe");
    EXPECT_EQ(told.rows[1].tune, "");
    EXPECT_EQ(told.rows[1].status, Status::Fail);
    EXPECT_EQ(told.rows[1].time_us, std::nullopt);
    EXPECT_EQ(told.rows[1].err_over_bound, std::numeric_limits<double>::infinity());
  }
}

TEST(History, ReadsASummaryOfBeforeTheColumnsThatAreNew) {
  const std::string text = test::history_csv(test::report_of({test::timed("a", "fused", 2.5)}));
  std::string old;
  for (const std::vector<std::string>& cells : history_rows_of(text))
    old += csv_row({cells.begin(), cells.end() - 3});
  const Told told = told_by(old);
  EXPECT_EQ(told.rows.at(0).time_us, 2.5);
  EXPECT_EQ(told.rows[0].tune, std::nullopt);
  EXPECT_EQ(told.rows[0].program, "");
  EXPECT_FALSE(told.run.robust_access);
}

TEST(History, RefusesWhatItCannotRead) {
  const auto refused = [](std::string_view text) { return test::error_of([&] { told_by(text); }); };
  EXPECT_EQ(refused(""), "it has no row");
  EXPECT_EQ(refused("a,b\r\n"), "line 1: there is no column 'run_id'");
  const std::string text = test::history_csv(test::report_of({test::passed("a"), test::passed("b")}));
  const auto edited = [&](const std::string& what, const std::string& by) {
    std::string changed = text;
    changed.replace(changed.rfind(what), what.size(), by);
    return refused(changed);
  };
  EXPECT_EQ(edited("PASS", "FINE"), "line 3: 'FINE' is not a status");
  EXPECT_THAT(edited("20260102T030405Z-1a2b3c", "another"), HasSubstr("line 3: it belongs to another run"));
  EXPECT_EQ(refused(text.substr(0, text.find("\r\n") + 2) + "3,x\r\n"), "line 2: it has only 2 cells");
}

}  // namespace
}  // namespace assay
