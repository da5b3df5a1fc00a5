#include "harness/report/writers/csv.h"

#include "harness/base/text.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/columns.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <set>

namespace assay {
namespace {

using ::testing::HasSubstr;
using Row = std::map<std::string, std::string>;
using ::testing::ElementsAre;

// From an opening quote at `i` to the closing one, where `i` is left.
std::string quoted_cell(const std::string& csv, std::size_t& i) {
  std::string cell;
  for (++i; i < csv.size(); ++i) {
    if (csv[i] != '"') {
      cell += csv[i];
    } else if (i + 1 < csv.size() && csv[i + 1] == '"') {
      cell += csv[++i];
    } else {
      return cell;
    }
  }
  ADD_FAILURE() << "a quote is not closed";
  return cell;
}

// A strict reader of RFC 4180, written apart from the writer.
std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string& cell = rows.back().back();
    if (csv[i] == '"') {
      EXPECT_TRUE(cell.empty()) << "a quote inside an unquoted cell";
      cell = quoted_cell(csv, i);
    } else if (csv[i] == ',') {
      rows.back().emplace_back();
    } else if (csv[i] == '\r') {
      EXPECT_EQ(csv.at(++i), '\n');
      rows.emplace_back(1, std::string());
    } else {
      EXPECT_NE(csv[i], '\n') << "a line end without a carriage return";
      cell += csv[i];
    }
  }
  EXPECT_EQ(rows.back(), std::vector<std::string>(1)) << "the last row has no line end";
  rows.pop_back();
  return rows;
}

std::vector<Row> rows_of(const std::string& csv) {
  const auto cells = cells_of(csv);
  std::vector<Row> rows;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].size(), cells[0].size()) << "row " << i;
    Row& row = rows.emplace_back();
    for (std::size_t k = 0; k < cells[0].size(); ++k) row[cells[0][k]] = cells[i][k];
  }
  return rows;
}

// Everything a row says, absent cells left out.
Row present(Row row) {
  std::erase_if(row, [](const auto& cell) { return cell.second.empty(); });
  return row;
}

Row common_cells() {
  return {{"schema", "4"},
          {"run_id", "20260102T030405Z-1a2b3c"},
          {"device", "Acme GPU 9"},
          {"driver", "Acme 12.3"},
          {"commit", "b1a8850ccc06"},
          {"date", "2026-01-02T03:04:05Z"},
          {"op", "shuffle"},
          {"impl", "fused"},
          {"group", "00112233445566ff"},
          {"dtype", "i8"},
          {"shape", "1x16x4x8"},
          {"forms", "x=buffer/4W4C y=buffer/4C1W"},
          {"params", "upscale_factor=2"},
          {"fill", "x=normal"},
          {"seed", "7"},
          {"tier", "ci"},
          {"validation_messages", "0"},
          {"file", "cases/shuffle.yaml"},
          {"line", "12"}};
}

Row merged(Row row, const Row& more) {
  row.insert(more.begin(), more.end());
  return row;
}

TEST(AccuCsv, TellsAllOfAPass) {
  const auto rows = rows_of(test::accu_csv(test::report_of({test::passed("good")})));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(present(rows[0]), merged(common_cells(), {{"case", "shuffle/good/1x16x4x8/4W4C.4W4C/fused"},
                                                      {"status", "PASS"},
                                                      {"output", "y"},
                                                      {"class", "exact"},
                                                      {"elements", "512"},
                                                      {"mismatches", "0"},
                                                      {"max_abs_err", "0"},
                                                      {"err_over_bound", "0"},
                                                      {"input_hash", "11112222333344445555666677778888"},
                                                      {"output_hash", "9999aaaabbbbccccddddeeeeffff0000"},
                                                      {"hash_portable", "true"},
                                                      {"reference_ms", "0.250"},
                                                      {"gpu_ms", "1.500"},
                                                      {"memory_bytes", "4096"},
                                                      {"total_ms", "2.125"},
                                                      {"repro",
                                                       "assay run --filter "
                                                       "shuffle/good/1x16x4x8/4W4C.4W4C/fused"}}));
}

TEST(AccuCsv, TellsWhereAndHowMuchAnAnswerIsWrong) {
  Record record = test::failed("bad");
  record.accuracy->output_class = OutputClass::Bounded;
  record.accuracy->expected = static_cast<double>(0.1F);
  record.accuracy->bound = 1.0 / 1024;
  record.accuracy->err_over_bound = 3072.123456;
  const Row row = rows_of(test::accu_csv(test::report_of({record}))).at(0);
  EXPECT_EQ(row.at("status"), "FAIL");
  EXPECT_EQ(row.at("reason"), "1 of 2 outputs is wrong");
  EXPECT_EQ(row.at("metric"), "wrong_value");
  EXPECT_EQ(row.at("class"), "bounded");
  EXPECT_EQ(row.at("mismatches"), "42");
  EXPECT_EQ(row.at("max_abs_err"), "3");
  EXPECT_EQ(row.at("err_over_bound"), "3072.12");
  EXPECT_EQ(row.at("first_wrong_index"), "0 3 7 2");
  EXPECT_EQ(row.at("expected"), "0.1");
  EXPECT_EQ(row.at("got"), "13");
  EXPECT_EQ(row.at("bound"), "0.0009765625");
  EXPECT_EQ(row.at("tie_differences"), "") << "for banded outputs only";
}

TEST(AccuCsv, CountsFlipsOfBandedOutputs) {
  Record record = test::passed("banded");
  record.accuracy->output_class = OutputClass::Banded;
  record.accuracy->flips = 3;
  record.accuracy->expected_flips = 2.5;
  const Row row = rows_of(test::accu_csv(test::report_of({record}))).at(0);
  EXPECT_EQ(row.at("tie_differences"), "3");
  EXPECT_EQ(row.at("expected_tie_differences"), "2.5");
}

TEST(AccuCsv, LeavesFiguresOutWhereNothingRan) {
  const Record record = test::without_answer("no", Status::Unsupported, "shaderInt8 is missing");
  const Row row = present(rows_of(test::accu_csv(test::report_of({record}))).at(0));
  EXPECT_EQ(row.at("reason"), "shaderInt8 is missing");
  EXPECT_FALSE(row.contains("elements"));
  EXPECT_FALSE(row.contains("output_hash"));
}

TEST(PerfCsv, TellsAllOfATime) {
  Record record = test::timed("fast", "fused", 2.5);
  record.perf->operations = 5000;
  record.info.tune = "local_size=128";
  const auto rows = rows_of(test::perf_csv(test::report_of({record})));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(present(rows[0]),
            merged(common_cells(), {{"case", "shuffle/fast/1x16x4x8/4W4C.4W4C/fused"},
                                    {"status", "PASS"},
                                    {"tune", "local_size=128"},
                                    {"cache", "hot"},
                                    {"time_us_min", "1.2500"},
                                    {"time_us_p25", "1.8750"},
                                    {"time_us_p50", "2.5000"},
                                    {"time_us_p75", "3.1250"},
                                    {"time_us_mean", "2.8125"},
                                    {"time_us_stdev", "0.5000"},
                                    {"ci_pct", "0.75"},
                                    {"imprecise", "only 2 blocks, of the 5 that are needed"},
                                    {"spread_pct", "1.50"},
                                    {"blocks", "2"},
                                    {"samples", "4"},
                                    {"discarded", "0"},
                                    {"sets", "1"},
                                    {"batch", "10"},
                                    {"stop_reason", "interval"},
                                    {"throughput_us", "2.1875"},
                                    {"transition_us", "0.0000"},
                                    {"dispatch_count", "1"},
                                    {"dispatches", "shuffle=2.5000"},
                                    {"bytes", "8000"},
                                    {"bytes_read", "4000"},
                                    {"ops", "5000"},
                                    {"gbps", "3.2"},
                                    {"gops", "2"},
                                    {"peak_gbps", "25.6"},
                                    {"ceiling", "bandwidth"},
                                    {"pct_peak_bw", "12.50"},
                                    {"limited_by", "latency"},
                                    {"time_source", "gpu"},
                                    {"timer", "good"},
                                    {"clock_ratio", "0.995"},
                                    {"verified", "true"},
                                    {"verified_pct", "100.00"},
                                    {"output_hash", "9999aaaabbbbccccddddeeeeffff0000"},
                                    {"compile_ms", "12.500"},
                                    {"registers", "24"},
                                    {"memory_mb", "0.008"},
                                    {"spirv_hash", "abcdefabcdefabcdefabcdefabcdefab"},
                                    {"program_hash", "00001111222233334444555566667775"},
                                    {"total_ms", "40.000"},
                                    {"repro",
                                     "assay run --mode perf --filter "
                                     "shuffle/fast/1x16x4x8/4W4C.4W4C/fused"}}));
}

TEST(PerfCsv, HasThePlanOfAChain) {
  Record record = test::timed("fast", "fused", 2.5);
  record.chain = ChainPlan{.transitions = 3,
                           .transition_bytes = 4096,
                           .folded = {"keep", "view"},
                           .peak_bytes = 512,
                           .hash = "00001111222233334444555566667776",
                           .times_run = "20260102T030405Z-1a2b3d"};
  const std::map<std::string, std::string> expected{{"transitions", "3"},
                                                    {"transition_bytes", "4096"},
                                                    {"folded", "2"},
                                                    {"peak_bytes", "512"},
                                                    {"plan_hash", "00001111222233334444555566667776"},
                                                    {"planned_with_run", "20260102T030405Z-1a2b3d"}};
  const Row with = present(rows_of(test::perf_csv(test::report_of({record}))).at(0));
  record.chain.reset();
  const Row without = present(rows_of(test::perf_csv(test::report_of({record}))).at(0));
  for (const auto& [column, value] : expected) {
    EXPECT_EQ(with.at(column), value) << column;
    EXPECT_FALSE(without.contains(column)) << column;
  }
}

TEST(PerfCsv, LeavesOutWhatIsNotKnown) {
  Record record = test::timed("fast", "fused", 2.5);
  PerfResult& perf = *record.perf;
  perf.peak_gbps = perf.pct_peak_bw = perf.clock_ratio = perf.verified_pct = 0;
  perf.registers.reset();
  perf.memory_bytes = 0;
  const Row row = present(rows_of(test::perf_csv(test::report_of({record}))).at(0));
  for (const char* column :
       {"pct_peak_bw",      "pct_peak_ops",    "peak_gbps",    "peak_gops",      "setup_us",
        "isolated_us",      "model",           "layer",        "calls",          "tokens",
        "suspect",          "clock_ratio",     "verified_pct", "chosen_impl",    "regret_pct",
        "ratio_to_slowest", "slowest_impl",    "shapes",       "registers",      "spills",
        "shared_bytes",     "memory_mb",       "energy_j",     "gops_per_joule", "power_w",
        "energy_source",    "energy_readings", "driver_retry"}) {
    EXPECT_FALSE(row.contains(column)) << column;
  }
}

TEST(PerfCsv, TellsWhatWasChosenAndWhatItCosts) {
  Record record = test::timed("fast", "fused", 2.5);
  PerfResult& perf = *record.perf;
  perf.ceiling = "dot4x8";
  perf.peak_gops = 98765.4321;
  perf.pct_peak_ops = 61.234;
  perf.setup_us = 12.5;
  perf.isolated_us = 3.75;
  perf.impl_auto = "tiled";
  perf.regret_pct = 0;
  perf.ratio = 2.0 / 15;
  perf.ratio_to = "plain";
  record.info.shapes = "x=1x96x16x9 y=1x24x32x18";
  perf.spill_bytes = 0;
  perf.shared_bytes = 4096;
  perf.suspect = "too fast";
  const Row row = rows_of(test::perf_csv(test::report_of({record}))).at(0);
  EXPECT_EQ(row.at("ceiling"), "dot4x8");
  EXPECT_EQ(row.at("peak_gops"), "98765.4");
  EXPECT_EQ(row.at("pct_peak_ops"), "61.23");
  EXPECT_EQ(row.at("setup_us"), "12.5000");
  EXPECT_EQ(row.at("isolated_us"), "3.7500");
  EXPECT_EQ(row.at("chosen_impl"), "tiled");
  EXPECT_EQ(row.at("regret_pct"), "0.00");
  EXPECT_EQ(row.at("ratio_to_slowest"), "0.133333");
  EXPECT_EQ(row.at("slowest_impl"), "plain");
  EXPECT_EQ(row.at("shapes"), "x=1x96x16x9 y=1x24x32x18");
  EXPECT_EQ(row.at("spills"), "0");
  EXPECT_EQ(row.at("shared_bytes"), "4096");
  EXPECT_EQ(row.at("suspect"), "too fast");
}

TEST(PerfCsv, TellsTheEnergyOfAProgramAndWhereItIsFrom) {
  Record record = test::timed("fast", "fused", 2.5);
  record.perf->operations = 3'000'000;
  record.perf->energy = Energy{.source = "NVML counter of energy (the GPU and its memory)",
                               .joules = 0.0015,
                               .watts = 600,
                               .window_s = 1.25,
                               .programs = 500'000,
                               .readings = 12};
  const Row row = rows_of(test::perf_csv(test::report_of({record}))).at(0);
  EXPECT_EQ(row.at("energy_j"), "0.0015");
  EXPECT_EQ(row.at("gops_per_joule"), "2");
  EXPECT_EQ(row.at("power_w"), "600");
  EXPECT_EQ(row.at("energy_readings"), "12");
  EXPECT_EQ(row.at("energy_source"), "NVML counter of energy (the GPU and its memory)");
}

TEST(PerfCsv, HasNoOperationsPerJouleForAProgramWithoutOperations) {
  Record record = test::timed("copy", "fused", 2.5);
  record.perf->operations = 0;
  record.perf->energy = Energy{.source = "RAPL package-0", .joules = 0.25};
  const Row row = present(rows_of(test::perf_csv(test::report_of({record}))).at(0));
  EXPECT_EQ(row.at("energy_j"), "0.25");
  EXPECT_FALSE(row.contains("gops_per_joule"));
}

TEST(Csv, TellsWhatTheDriverDidOnlyWhenAskedAgain) {
  Record record = test::timed("fast", "fused", 2.5);
  record.driver_retry = "creating the pipeline of dispatch 'add': the driver failed with VK_ERROR_UNKNOWN";
  EXPECT_EQ(rows_of(test::perf_csv(test::report_of({record}))).at(0).at("driver_retry"), record.driver_retry);
}

TEST(PerfCsv, WithholdsTheTimeOfAWrongKernel) {
  Record record = test::timed("wrong", "fused", 2.5);
  record.status = Status::Fail;
  record.reason = "it is wrong";
  const Row row = present(rows_of(test::perf_csv(test::report_of({record}))).at(0));
  EXPECT_EQ(row.at("reason"), "it is wrong");
  for (const char* column :
       {"time_us_min", "time_us_p50", "throughput_us", "gbps", "samples", "dispatches"}) {
    EXPECT_FALSE(row.contains(column)) << column;
  }
}

TEST(Csv, TakesEachRecordInOneOfTheTwo) {
  const RunReport report = test::report_of(test::all_kinds());
  EXPECT_EQ(rows_of(test::accu_csv(report)).size() + rows_of(test::perf_csv(report)).size(),
            report.records.size());
  EXPECT_EQ(rows_of(test::perf_csv(report)).size(), 3U);
}

TEST(Csv, KeepsThePlacesOfEmptyCells) {
  EXPECT_EQ(csv_row({"", "", "a", ""}), ",,a,\r\n");
}

/// What reports/README.md recommends to readers of the files.
std::string without_mark(std::string cell) {
  const std::size_t at = cell.find_first_not_of('\'');
  const bool is_marked = at != cell.npos && at > 0 && std::string_view("=+-@\t").find(cell[at]) != cell.npos;
  return is_marked ? cell.substr(1) : cell;
}

TEST(Csv, WritesTextThatASpreadsheetWouldComputeSoThatItDoesNot) {
  EXPECT_EQ(csv_row({"=1+1", "+x", "-x", "@SUM(A1)", "\tx", "'=x"}), "'=1+1,'+x,'-x,'@SUM(A1),'\tx,''=x\r\n");
  EXPECT_EQ(csv_row({"-3", "-1.5e-07", "-inf", "'x", "a=b"}), "-3,-1.5e-07,-inf,'x,a=b\r\n");
  for (const std::string text : {"=1+1", "-x", "'=x", "''@x", "'x", "-3", "x"}) {
    const std::string row = csv_row({text});
    EXPECT_EQ(without_mark(row.substr(0, row.size() - 2)), text);
  }
}

TEST(Csv, IsAHeaderWhenThereAreNoRecords) {
  EXPECT_EQ(rows_of(test::accu_csv(test::report_of({}))).size(), 0U);
  EXPECT_EQ(cells_of(test::perf_csv(test::report_of({}))).size(), 1U);
}

TEST(Csv, KeepsNastyTextInItsCell) {
  Record record = test::failed("odd");
  record.reason = test::nasty;
  record.accuracy->got = std::numeric_limits<double>::quiet_NaN();
  record.accuracy->expected = -std::numeric_limits<double>::infinity();
  record.repro = " blank ends ";
  const std::string csv = test::accu_csv(test::report_of({record, test::passed("next")}));
  const auto rows = rows_of(csv);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("reason"), printable(test::nasty));
  EXPECT_EQ(rows[0].at("got"), "nan");
  EXPECT_EQ(rows[0].at("expected"), "-inf");
  EXPECT_THAT(csv, HasSubstr("\" blank ends \""));
  EXPECT_EQ(valid_utf8(csv), csv);
}

TEST(Columns, HaveNamesOfTheirOwn) {
  for (const auto& columns : {accu_columns(), perf_columns()}) {
    std::set<std::string> names;
    for (const Column& column : columns) {
      EXPECT_TRUE(names.insert(column.name).second) << column.name;
      EXPECT_FALSE(column.unit.empty()) << column.name;
      EXPECT_FALSE(column.meaning.empty()) << column.name;
    }
  }
}

std::string readme() {
  return test::read_file(std::string(ASSAY_SOURCE_DIR) + "/reports/README.md");
}

// The first table below a heading.
std::string table_below(const std::string& heading) {
  const std::string text = readme();
  const auto at = text.find("\n" + heading + "\n");
  const auto begin = text.find("\n|", at) + 1;
  return text.substr(begin, text.find("\n\n", begin) + 1 - begin);
}

// The words between backquotes in the first cells of a table.
std::vector<std::string> first_cells(const std::string& table) {
  std::vector<std::string> cells;
  for (auto at = table.find("\n| `"); at != table.npos; at = table.find("\n| `", at + 1)) {
    const auto begin = at + 4;
    cells.push_back(table.substr(begin, table.find('`', begin) - begin));
  }
  return cells;
}

TEST(ReportsReadme, ShowsTheColumnsAsTheyAre) {
  EXPECT_EQ(table_below("### accu.csv"), markdown_table(accu_columns()));
  EXPECT_EQ(table_below("### perf.csv"), markdown_table(perf_columns()));
  EXPECT_EQ(table_below("### history.csv"), markdown_table(history_columns()));
  EXPECT_EQ(table_below("### Columns of the case"), markdown_table(pivot_case_columns()));
  EXPECT_EQ(table_below("### Columns of each device"), markdown_table(pivot_device_columns()));
}

TEST(ReportsReadme, ShowsEveryStatusAndMetric) {
  std::vector<std::string> statuses, metrics;
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    statuses.emplace_back(name_of(static_cast<Status>(i)));
  }
  for (const MetricWords& words : known_metrics()) metrics.emplace_back(words.metric);
  EXPECT_EQ(first_cells(table_below("## Statuses")), statuses);
  EXPECT_EQ(first_cells(table_below("## Metrics")), metrics);
}

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
  report.run.robust_access = report.run.validation = true;
  report.records[0].info.tune = "local_size=64";
  report.records[0].info.tuned = "a_tile=2 (line 3)";
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
    EXPECT_TRUE(told.run.validation);
    EXPECT_EQ(kind_of_run(told.run), kind_of_run(report.run));
    EXPECT_EQ(told.rows[0].tune, "a_tile=2 local_size=64") << "of the case and of the tuning file";
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
    old += csv_row({cells.begin(), cells.end() - 5});
  const Told told = told_by(old);
  EXPECT_EQ(told.rows.at(0).time_us, 2.5);
  EXPECT_EQ(told.rows[0].tune, std::nullopt);
  EXPECT_EQ(told.rows[0].program, "");
  EXPECT_FALSE(told.run.robust_access);
  EXPECT_FALSE(told.run.validation);
}

TEST(History, ReadsASummaryOfBeforeTheColumnValidation) {
  RunReport report = test::report_of({test::timed("a", "fused", 2.5)});
  report.run.robust_access = report.run.validation = true;
  std::string old;
  for (const std::vector<std::string>& cells : history_rows_of(test::history_csv(report)))
    old += csv_row({cells.begin(), cells.end() - 1});
  EXPECT_TRUE(told_by(old).run.robust_access);
  EXPECT_FALSE(told_by(old).run.validation);
}

TEST(History, ReadsASummaryWithTheNamesOfSchema3) {
  std::string text = test::history_csv(test::report_of({test::timed("a", "fused", 2.5)}));
  const std::string program = told_by(text).rows.at(0).program;
  ASSERT_FALSE(program.empty());
  text.replace(text.find("program_hash"), std::string_view("program_hash").size(), "program");
  EXPECT_EQ(told_by(text).rows.at(0).program, program);
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
