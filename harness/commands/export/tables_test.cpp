#include "harness/commands/export/tables.h"

#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <set>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace assay::app
