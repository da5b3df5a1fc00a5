#include "tests/support/assay_binary.h"
#include "tests/support/fenced_code.h"
#include "tests/support/sqlite_rows.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace assay::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string published = "reports/published/nvidia-h200";

/// The published report of an H200 as a database, written once for all tests of the suite.
class ExportedReport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    const ProcessResult result =
        assay({"export", published, "--sqlite", database(), "--openmetrics", metrics()});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
  }
  static void TearDownTestSuite() { folder.reset(); }

  static std::string database() { return *folder / "a.db"; }
  static std::string metrics() { return *folder / "a.txt"; }
  static std::string cell(const std::string& query) { return sqlite_cell(database(), query); }

  static std::unique_ptr<TemporaryFolder> folder;
};
std::unique_ptr<TemporaryFolder> ExportedReport::folder;

/// The table of `assay show --group status`: a line begins with the number of rows and ends with the status.
std::map<std::string, std::string> shown_rows_by_status() {
  std::istringstream text(assay({"show", published, "--group", "status"}).out);
  std::map<std::string, std::string> counts;
  std::string line;
  for (int heading = 0; heading < 2; ++heading) std::getline(text, line);
  while (std::getline(text, line)) {
    std::istringstream words(line);
    const std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
    if (!cells.empty()) counts[cells.back()] = cells.front();
  }
  return counts;
}

TEST_F(ExportedReport, HasTheCountsOfShow) {
  const std::map<std::string, std::string> shown = shown_rows_by_status();
  EXPECT_THAT(shown, SizeIs(Ge(2U)));
  std::map<std::string, std::string> found;
  for (const auto& row : sqlite_rows(database(), "SELECT status, count(*) FROM rows GROUP BY status"))
    found[row[0]] = row[1];
  EXPECT_EQ(found, shown);
  const std::string timed = cell("SELECT count(*) FROM times");
  EXPECT_THAT(assay({"show", published, "--group", "status"}).out, HasSubstr("  " + timed + "  "));
  EXPECT_EQ(cell("SELECT count(*) FROM timed_rows"), timed);
  EXPECT_EQ(cell("PRAGMA integrity_check"), "ok");
}

TEST_F(ExportedReport, HasTheTimesOfShow) {
  const auto row = sqlite_rows(database(),
                               "SELECT id, printf('%.4g', time_us_p50) FROM timed_rows "
                               "ORDER BY time_us_p50 DESC LIMIT 1");
  ASSERT_EQ(row.size(), 1U);
  const ProcessResult slowest = assay({"show", published, "--slowest", "1"});
  EXPECT_THAT(slowest.out, AllOf(HasSubstr(row[0][0]), HasSubstr(row[0][1])));
}

TEST_F(ExportedReport, AnswersTheQueriesOfTheDocument) {
  const std::vector<std::string> queries = fenced_code(read_file("docs/export.md"), "sql");
  ASSERT_EQ(queries.size(), 4U);
  EXPECT_THAT(sqlite_rows(database(), queries[0]), SizeIs(10));
  const auto linear = sqlite_rows(database(), queries[1]);
  EXPECT_THAT(linear, SizeIs(Ge(10U)));
  for (const auto& row : linear) EXPECT_GE(std::stoi(row[0]), 32) << "N is a number";
  EXPECT_THAT(sqlite_rows(database(), queries[2]), SizeIs(0)) << "there is one run only";
  EXPECT_THAT(sqlite_rows(database(), queries[3]), SizeIs(0)) << "no row failed";
}

TEST_F(ExportedReport, IsOpenMetricsForPrometheusOwnParser) {
  const std::string python = "/usr/bin/python3";  // Debian's
  const std::string module = "prometheus_client.openmetrics.parser";
  if (run({.words = {python, "-c", "import " + module}}).exit_code != 0)
    GTEST_SKIP() << "python3-prometheus-client is not installed (scripts/setup.sh --dev)";
  const std::string script =
      "import sys\n"
      "from " +
      module +
      " import text_string_to_metric_families as parse\n"
      "for f in parse(open(sys.argv[1]).read()):\n"
      "  print(f.name, f.type, f.unit or '-', len(f.samples), sep=',')\n";
  const ProcessResult result = run({.words = {python, "-c", script, metrics()}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              StartsWith("assay_run_start_time_seconds,gauge,seconds,1\nassay_rows,gauge,-,16\n"));
  EXPECT_THAT(result.out, HasSubstr("\nassay_row_time_seconds,gauge,seconds," +
                                    cell("SELECT count(*) FROM times") + "\n"));
  EXPECT_THAT(result.out, HasSubstr("\nassay_ceiling_operations_per_second,gauge,operations_per_second," +
                                    cell("SELECT count(*) FROM ceilings") + "\n"));
  EXPECT_THAT(result.out, EndsWith("\nassay_dispatch_spacing_seconds,gauge,seconds,1\n"));
}

TEST_F(ExportedReport, IsRefusedWithTheReason) {
  const ProcessResult exists = assay({"export", published, "--sqlite", database()});
  EXPECT_EQ(exists.exit_code, 2);
  EXPECT_THAT(exists.err, HasSubstr("a.db exists; --overwrite replaces it"));
  const ProcessResult unwritable = assay({"export", published, "--sqlite", "/no/such/folder/a.db"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot create /no/such/folder/a.db: "));
  const ProcessResult one_file =
      assay({"export", published, "--sqlite", *folder / "b", "--openmetrics", *folder / "b"});
  EXPECT_EQ(one_file.exit_code, 2);
  EXPECT_THAT(one_file.err, HasSubstr("--sqlite and --openmetrics name one file"));
  EXPECT_EQ(assay({"export", published}).exit_code, 2);
  EXPECT_EQ(assay({"export", published, "--openmetrics", "-", "--overwrite"}).exit_code, 2);
  EXPECT_EQ(assay({"export", published, "--sqlite", database(), "--newest"}).exit_code, 2);
}

TEST_F(ExportedReport, GoesToStdoutWithNothingElse) {
  const ProcessResult result = assay({"export", published, "--openmetrics", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, read_file(metrics()));
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace assay::test
