#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/fenced_code.h"
#include "tests/support/sqlite_rows.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
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
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Show : public SampleRunTest {};

TEST_F(Show, PrintsBothRowsOfAnId) {
  const ProcessResult result = assay({"show", out(), "q8ta_pixel_shuffle/both/4W4C.4W4C/fused"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS  q8ta_pixel_shuffle/both/4W4C.4W4C/fused (accu)\n"));
  EXPECT_THAT(result.out, HasSubstr("PASS  q8ta_pixel_shuffle/both/4W4C.4W4C/fused (perf)\n"));
  EXPECT_THAT(result.out, HasSubstr("\ntime of one program run\n"));
  EXPECT_THAT(result.out, HasSubstr("p.yaml:3:5"));
  EXPECT_THAT(result.out, Not(HasSubstr("samples, us by block")));
}

TEST_F(Show, TakesAPartAGlobAndEveryKindOfReport) {
  const std::filesystem::path device = device_folder(out());
  for (const std::string& report : {out(), device.string(), (device / "journal.jsonl").string()}) {
    for (const char* id : {"both", "*/both/*"}) {
      const ProcessResult result = assay({"show", report, id, "--samples"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("samples, us by block"));
    }
  }
}

TEST_F(Show, ListsTheIdsWhenSeveralMatch) {
  const ProcessResult result = assay({"show", out(), "small/1x16x4x4"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("looking for 'small/1x16x4x4' in the report: 2 ids match; name one of them:\n"
                        "  q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused\n"
                        "  q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4C1W/fused\n"));
}

TEST_F(Show, NamesTheNearestIdsWhenNoneMatches) {
  const ProcessResult result = assay({"show", out(), "bth/4W4C"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("no id matches; the nearest are\n  q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
}

TEST_F(Show, AnswersQuestions) {
  const ProcessResult slowest = assay({"show", out(), "--slowest"});
  EXPECT_EQ(slowest.exit_code, 0) << slowest.err;
  EXPECT_THAT(slowest.out, HasSubstr("1 of 1 row, the longest median time first\n"));
  EXPECT_THAT(slowest.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  const ProcessResult worst = assay({"show", out(), "--worst", "2", "--op", "q8ta_*"});
  EXPECT_EQ(worst.exit_code, 0) << worst.err;
  EXPECT_THAT(worst.out, HasSubstr("2 of 5 rows, failures first"));
  const ProcessResult several = assay({"show", out(), "small", "--worst=1", "--group", "impl"});
  EXPECT_THAT(several.out, HasSubstr("1 of 4 rows, failures first"));
  EXPECT_THAT(several.out, HasSubstr("\n4 rows by impl; "));
  EXPECT_THAT(several.out, HasSubstr("  q8ta_pixel_shuffle fused\n"));
}

TEST_F(Show, ListsTheRowsOfAGroup) {
  const ProcessResult rows = assay({"show", out(), "--group", "impl=*fused"});
  EXPECT_EQ(rows.exit_code, 0) << rows.err;
  EXPECT_THAT(rows.out, HasSubstr("6 rows of impl=*fused\n"));
  EXPECT_THAT(rows.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  EXPECT_EQ(assay({"show", out(), "--group", "failure=*"}).out,
            "no row of failure=*; `--group failure` shows the groups\n");
}

TEST_F(Show, SaysWhatIsNoQuestion) {
  const ProcessResult none = assay({"show", out(), "--worst", "--op", "clone"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no row of the report has that id or --op"));
  EXPECT_THAT(assay({"show", out()}).err, HasSubstr("give an id, or ask for --worst, --slowest"));
  EXPECT_EQ(assay({"show", out(), "--group", "colour"}).exit_code, 2);
  EXPECT_EQ(assay({"show", out(), "--group", "colour=red"}).exit_code, 2);
  EXPECT_EQ(assay({"show", out(), "--worst", "0"}).exit_code, 2);
}

TEST_F(Show, AnswersForEachDeviceOfAFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy(device_folder(out()) / "journal.jsonl", folder / name);
  }
  const ProcessResult result = assay({"show", folder.path().string(), "--slowest", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(", " + (folder / "a").string() + "\n1 of 1 row"));
  EXPECT_THAT(result.out, HasSubstr(", " + (folder / "b").string() + "\n1 of 1 row"));
}

TEST_F(Show, WantsOneDevice) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy(device_folder(out()) / "journal.jsonl", folder / name);
  }
  const ProcessResult result = assay({"show", folder.path().string(), "both"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("holds several devices; name one of them:\n  " + (folder / "a").string()));
}

TEST_F(Show, SaysWhereNoReportIs) {
  const ProcessResult result = assay({"show", "/no/such/folder", "both"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no file or folder /no/such/folder"));
}

// Two of the sample run's rows as layers of a model: what the op of the run does not tell is put in.
class Summary : public SampleRunTest {
 protected:
  void SetUp() override { folder_.write("journal.jsonl", with_model(read_file(journal()))); }

  std::string report() const { return folder_.path().string(); }

 private:
  static std::filesystem::path journal() { return device_folder(out()) / "journal.jsonl"; }

  static std::string with_model(std::string text) {
    const std::string mode = R"("mode":"perf")";
    const auto at = text.find(mode);
    EXPECT_NE(at, text.npos);
    return text.replace(at, mode.size(), mode + R"(,"model":"sample","layer":"up","calls":1000,"tokens":1)");
  }

  TemporaryFolder folder_;
};

TEST_F(Summary, PrintsAReportOnOneScreen) {
  const ProcessResult result = assay({"summary", out()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n6 rows: 6 PASS\n"));
  EXPECT_THAT(result.out, HasSubstr("  q8ta_pixel_shuffle\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("steps of models")));
  EXPECT_THAT(assay({"summary", report(), out()}).out, HasSubstr("  rows  failed  timed"));
}

TEST_F(Summary, PrintsWhatAStepCostsByDevice) {
  const ProcessResult result = assay({"summary", "--model", "sample", report(), out()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("sample: a step is the sum over its layers of median time x calls\n"));
  EXPECT_THAT(result.out, HasSubstr("  1 of 1  llvmpipe #1  q8ta_pixel_shuffle, i8, hot\n"));
  EXPECT_THAT(result.out, HasSubstr("- llvmpipe #2: no step with 1 token; the report has no row"));
  EXPECT_THAT(assay({"summary", report(), "--model", "sample", "--layers"}).out, HasSubstr("  up"));
}

TEST_F(Summary, WritesTheStepsOfAReport) {
  const ProcessResult result = assay({"summary", report(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("## "));
  EXPECT_THAT(result.out, HasSubstr("\n### sample, 1 token: `q8ta_pixel_shuffle`, i8, hot\n"));
  EXPECT_THAT(result.out, HasSubstr("\n| `up`  |  1000 |"));
  EXPECT_THAT(result.out, HasSubstr(" tokens/s. Every layer of the model in the report is in the sum."));
}

TEST_F(Summary, TakesSeveralReportsAndSaysWhichHaveNoModel) {
  const ProcessResult result = assay({"summary", report(), out(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nNo timed row names a layer of a model.\n"));
}

TEST_F(Summary, WritesTheFilesThatAreAskedForAndNothingElse) {
  const TemporaryFolder folder;
  const std::string csv = folder / "s.csv", markdown = folder / "s.md";
  const ProcessResult result = assay({"summary", report(), "--csv", csv, "--markdown", markdown});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read_file(csv), StartsWith("device,model,tokens,"));
  EXPECT_EQ(read_file(markdown), assay({"summary", report(), "--markdown", "-"}).out);
  EXPECT_EQ(read_file(csv), assay({"summary", report(), "--csv", "-"}).out);
}

TEST_F(Summary, ShowsTheModelsThatAreAskedFor) {
  EXPECT_EQ(assay({"summary", report(), "--model", "sam*", "--csv", "-"}).out,
            assay({"summary", report(), "--csv", "-"}).out);
  const ProcessResult unknown = assay({"summary", report(), "--model", "simple"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("--model: no report has a step of a model 'simple'; the models with steps are\n"
                        "  sample"));
}

TEST_F(Summary, RefusesReportsWithoutALayer) {
  const ProcessResult result = assay({"summary", out(), "--csv", "-"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("summing the layers of models: no timed row of "));
  EXPECT_THAT(result.err, HasSubstr("cases/models"));
}

TEST_F(Summary, SaysWhereItCannotWriteOrRead) {
  const ProcessResult unwritable = assay({"summary", report(), "--csv", "/no/such/folder/s.csv"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/folder/s.csv"));
  const TemporaryFolder empty;
  const ProcessResult unreadable = assay({"summary", empty.path().string()});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("journal.jsonl"));
  EXPECT_EQ(assay({"summary"}).exit_code, 2);
}

class Pivot : public SampleRunTest {
 protected:
  static std::string journal() { return read_file(device_folder(out()) / "journal.jsonl"); }
};

// `text` with the first `from` after `after` replaced.
std::string replaced(std::string text, const std::string& after, const std::string& from,
                     const std::string& to) {
  const auto at = text.find(from, text.find(after));
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

// The journal changed as if the run had been on another device.
std::string on_another_device(const std::string& journal) {
  return replaced(journal, R"("device")", R"("name":")", R"("name":"Another )");
}

TEST_F(Pivot, PrintsMarkdownOfEveryDeviceInAFolder) {
  const TemporaryFolder folder;
  folder.write("a/journal.jsonl", journal());
  folder.write("b/journal.jsonl", on_another_device(journal()));
  const ProcessResult result = assay({"pivot", folder.path().string(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("| device "));
  EXPECT_THAT(result.out, HasSubstr("\n| Another "));
  EXPECT_THAT(result.out, HasSubstr("\n| `q8ta_pixel_shuffle/both/4W4C.4W4C/fused` | fused |"));
  EXPECT_THAT(result.out, EndsWith("\n5 exact outputs equal on 2 devices\n"));
}

TEST_F(Pivot, PrintsWhatFitsATerminal) {
  const TemporaryFolder folder;
  folder.write("a/journal.jsonl", journal());
  folder.write("b/journal.jsonl", on_another_device(journal()));
  const ProcessResult result = assay({"pivot", folder.path().string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("devices\n"));
  EXPECT_THAT(result.out, HasSubstr("\n      ceilings: "));
  EXPECT_THAT(result.out, HasSubstr("    1x  1 row  all ops\n"));
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  EXPECT_THAT(result.out, EndsWith("\n5 exact outputs equal on 2 devices\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("|"))) << "Markdown is for files";
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(Pivot, WritesTheFilesThatAreAskedForAndNothingElse) {
  const TemporaryFolder folder;
  const std::string csv = folder / "p.csv", markdown = folder / "p.md";
  const ProcessResult result = assay({"pivot", out(), out(), "--csv", csv, "--markdown", markdown});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read_file(csv), StartsWith("case,op,impl,"));
  EXPECT_EQ(std::ranges::count(read_file(csv), '\n'), 2);
  EXPECT_THAT(read_file(csv), HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused,q8ta_pixel_shuffle,fused,"));
  EXPECT_EQ(read_file(markdown), assay({"pivot", out(), out(), "--markdown", "-"}).out);
  EXPECT_EQ(read_file(csv), assay({"pivot", out(), out(), "--csv", "-"}).out);
}

TEST_F(Pivot, FindsEqualHashes) {
  const ProcessResult result = assay({"pivot", out(), device_folder(out()).string(), "--hashes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "5 exact outputs equal on 2 devices\n");
}

TEST_F(Pivot, FindsADifferentHash) {
  const TemporaryFolder folder;
  const std::string key = R"("output_hash":")";
  const std::string other = replaced(journal(), R"("event":"judged")", key, key + "0");
  folder.write("journal.jsonl", on_another_device(other));
  const ProcessResult result = assay({"pivot", out(), folder.path().string(), "--hashes"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, StartsWith("q8ta_pixel_shuffle/"));
  EXPECT_THAT(result.out, HasSubstr("\n  Another "));
  EXPECT_THAT(result.out, EndsWith("\n4 exact outputs equal on 2 devices; 1 differs\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("the inputs differ")));
}

TEST_F(Pivot, CannotCompareTheHashesOfOneReport) {
  const ProcessResult result = assay({"pivot", out(), "--hashes"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("comparing hashes: there is only one report"));
}

TEST_F(Pivot, ComparesAnotherFigureWhereARowHasIt) {
  const TemporaryFolder folder;
  const std::string energy = R"("energy":{"source":"RAPL","joules":0.125},)";
  folder.write("journal.jsonl",
               replaced(journal(), R"("event":"end")", R"("perf":{)", R"("perf":{)" + energy));
  const ProcessResult result = assay({"pivot", folder.path().string(), "--figure", "energy_j"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("0.125  q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  const ProcessResult none = assay({"pivot", out(), "--figure", "energy_j"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no row that passed has it; `assay run --energy` measures it"));
  EXPECT_EQ(assay({"pivot", out(), "--figure", "cost"}).exit_code, 2);
  EXPECT_EQ(assay({"pivot", out(), out(), "--figure", "energy_j", "--hashes"}).exit_code, 2);
}

TEST_F(Pivot, SaysWhereItCannotWriteOrRead) {
  const ProcessResult unwritable = assay({"pivot", out(), "--csv", "/no/such/folder/p.csv"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/folder/p.csv"));
  const TemporaryFolder empty;
  const ProcessResult unreadable = assay({"pivot", empty.path().string()});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("journal.jsonl"));
  EXPECT_EQ(assay({"pivot"}).exit_code, 2);
}

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
                               "SELECT id, printf('%.2f', time_us_p50) FROM timed_rows "
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
