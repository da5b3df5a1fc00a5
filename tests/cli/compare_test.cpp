#include "harness/base/statistics.h"
#include "harness/report/journal/journal.h"
#include "harness/report/record/record.h"
#include "tests/support/assay_binary.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace assay::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Series = std::vector<std::vector<double>>;

RunInfo run_info(const std::string& run_id) {
  RunInfo run;
  run.run_id = run_id;
  run.started_utc = "2026-01-02T03:04:05Z";
  run.device.name = "Acme GPU 9";
  run.device.uuid = "000102030405060708090a0b0c0d0e0f";
  run.device.driver_name = "Acme";
  run.version = "0.1.0";
  return run;
}

Record accurate(const std::string& name, Status status = Status::Pass) {
  Record record;
  record.info.id = "shuffle/" + name;
  record.info.op = "shuffle";
  record.info.impl = "fused";
  record.info.mode = "accu";
  record.status = status;
  if (status != Status::Pass) record.reason = "it is wrong";
  record.accuracy.emplace();
  return record;
}

// `block` a so many times: a steady device.
Record timed(const std::string& name, double us, const std::string& program, int samples = 10) {
  Record record = accurate(name);
  record.info.mode = "perf";
  record.info.cache = "hot";
  PerfResult& perf = record.perf.emplace();
  std::vector<double> all;
  for (int b = 0; b < 5; ++b) {
    std::vector<double>& block = perf.sample_us.emplace_back();
    for (int s = 0; s < samples; ++s) block.push_back(us * (1 + 1e-4 * b + 1e-5 * s));
    all.insert(all.end(), block.begin(), block.end());
  }
  const Summary summary = summarize(all);
  perf.time_us_min = summary.min;
  perf.time_us_p25 = summary.p25;
  perf.time_us_p50 = summary.p50;
  perf.time_us_p75 = summary.p75;
  perf.time_us_mean = summary.mean;
  perf.time_us_stdev = summary.stdev;
  perf.blocks = 5;
  perf.samples = static_cast<int>(all.size());
  perf.batch = 10;
  perf.clock = "gpu";
  perf.timer = "good";
  perf.verified = true;
  perf.program_hash = program;
  return record;
}

/// Journals as runs write them, each in a folder of its own.
class Compare : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::vector<Record>& records, const RunInfo& run) {
    Journal journal(folder / (name + "/journal.jsonl"));
    journal.run(run);
    std::vector<RowInfo> plan;
    for (const Record& record : records) plan.push_back(record.info);
    journal.plan(plan);
    for (std::size_t row = 0; row < records.size(); ++row) {
      journal.begin(row);
      test::tell_record(journal, row, records[row]);
    }
    journal.done();
    return folder / name;
  }
  std::string write(const std::string& name, const std::vector<Record>& records) {
    return write(name, records, run_info(name));
  }

  // The journal of that run with the first `from` replaced.
  void edit(const std::string& name, const std::string& from, const std::string& to) {
    const std::string path = name + "/journal.jsonl";
    std::string journal = read_file(folder / path);
    const auto at = journal.find(from);
    ASSERT_NE(at, journal.npos) << from;
    folder.write(path, journal.replace(at, from.size(), to));
  }

  std::string base() {
    return write("base", {accurate("same"), timed("same", 100, "p"), timed("edited", 100, "p")});
  }
  std::string slower() {
    return write("slower", {accurate("same"), timed("same", 100, "p"), timed("edited", 110, "q")});
  }

  TemporaryFolder folder;
};

TEST_F(Compare, FailsOnASlowerRow) {
  const ProcessResult result = assay({"compare", base(), slower()});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(
      result.out,
      ContainsRegex("\n  SLOWER  +100\\.02  +110\\.0[0-9] +\\+10\\.0 %.*shuffle/edited \\(perf\\)\n"));
  EXPECT_THAT(result.out, HasSubstr("\n1 SLOWER, 2 SAME\n"));
  EXPECT_THAT(result.out, HasSubstr("By chance alone, at most 0.02 of the 2 judged times"));
  EXPECT_THAT(result.out, Not(HasSubstr("SAME  "))) << "rows that are the same stay out";
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Compare, IsFineWhereNothingIsWorse) {
  const ProcessResult faster = assay({"compare", slower(), base()});
  EXPECT_EQ(faster.exit_code, 0) << faster.err;
  EXPECT_THAT(faster.out, HasSubstr("FASTER"));
  EXPECT_EQ(assay({"compare", folder / "slower", folder / "base/journal.jsonl"}).exit_code, 0);
}

TEST_F(Compare, FailsOnWhatItIsTold) {
  const std::string a = base(), b = slower();
  EXPECT_EQ(assay({"compare", a, b, "--fail-on", "none"}).exit_code, 0);
  EXPECT_EQ(assay({"compare", a, b, "--fail-on", "broken,gone"}).exit_code, 0);
  EXPECT_EQ(assay({"compare", a, b, "--fail-on", "broken,SLOWER"}).exit_code, 1);
  EXPECT_EQ(assay({"compare", b, a, "--fail-on", "faster"}).exit_code, 1);
  for (const char* wrong : {"slow", "slower,", ""}) {
    const ProcessResult result = assay({"compare", a, b, "--fail-on", wrong});
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("is not a verdict; the verdicts are faster, slower, same,")) << wrong;
  }
  const ProcessResult none = assay({"compare", a, b, "--fail-on", "none,slower"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--fail-on: 'none' stands alone, for no verdict"));
}

TEST_F(Compare, FailsOnBrokenAndGoneRows) {
  const std::string a = write("a", {accurate("x"), accurate("y")});
  EXPECT_EQ(assay({"compare", a, write("b", {accurate("x"), accurate("y", Status::Fail)})}).exit_code, 1);
  EXPECT_EQ(assay({"compare", a, write("c", {accurate("x")})}).exit_code, 1);
  EXPECT_EQ(assay({"compare", write("d", {accurate("x")}), a}).exit_code, 0) << "a new row is no failure";
}

TEST_F(Compare, FailsOnTheEnvironmentOnlyWhenAsked) {
  const std::string a = write("a", {timed("x", 100, "p")}), b = write("b", {timed("x", 110, "p")});
  const ProcessResult result = assay({"compare", a, b});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  ENVIRONMENT  "));
  EXPECT_EQ(assay({"compare", a, b, "--fail-on", "environment"}).exit_code, 1);
  const ProcessResult judged = assay({"compare", a, b, "--judge-same-programs"});
  EXPECT_EQ(judged.exit_code, 1);
  EXPECT_THAT(judged.out, HasSubstr("  SLOWER  "));
}

TEST_F(Compare, TellsFirstThatTheMachineWasSlower) {
  std::vector<Record> before, now;
  for (const double times : {1.97, 1.99, 2.00, 2.02, 2.04}) {
    const std::string name = "unchanged" + std::to_string(before.size());
    before.push_back(timed(name, 100, "p"));
    now.push_back(timed(name, 100 * times, "p"));
  }
  for (const double times : {2.27, 2.45, 2.0}) {
    const std::string name = "edited" + std::to_string(before.size());
    before.push_back(timed(name, 100, "p"));
    now.push_back(timed(name, 100 * times, "q"));
  }
  const ProcessResult result = assay({"compare", write("idle", before), write("busy", now)});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out,
              StartsWith("The machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x); rows of "
                         "other programs are judged against that\n"));
  EXPECT_THAT(result.out, ContainsRegex("\n  SLOWER +100\\.02 +227\\.0[0-9] +2\\.27x  1\\.1[34]x \\(1\\.1"));
  EXPECT_THAT(result.out, HasSubstr("\n2 SLOWER, 1 SAME, 5 ENVIRONMENT\n"));
}

TEST_F(Compare, LearnsWhatRunsOfADeviceDifferBy) {
  const std::string noise = folder / "noise.csv";
  const auto many = [&](const std::string& name, double us) {
    std::vector<Record> records;
    for (int i = 0; i < 40; ++i) records.push_back(timed("row" + std::to_string(i), us, "p"));
    return write(name, records);
  };
  const std::string first = many("0", 100);
  for (const auto& [name, us] : {std::pair{"1", 100.2}, {"2", 101.5}, {"3", 100.1}}) {
    const ProcessResult kept =
        assay({"compare", first, many(name, us), "--keep-run-noise", noise, "--fail-on", "none"});
    EXPECT_EQ(kept.exit_code, 0) << kept.err;
  }
  EXPECT_EQ(std::ranges::count(read_file(noise), '\n'), 4);
  const std::string a = write("a", {timed("x", 100, "p")}), b = write("b", {timed("x", 102, "q")});
  EXPECT_THAT(assay({"compare", a, b}).out, HasSubstr("within run noise"));
  const ProcessResult known = assay({"compare", a, b, "--run-noise", noise});
  EXPECT_EQ(known.exit_code, 1) << known.out;
  EXPECT_THAT(known.out, HasSubstr("  SLOWER  "));
  EXPECT_THAT(known.out, HasSubstr("One run per side: differences up to 1.5 % are not reported"));
  EXPECT_EQ(assay({"compare", a, b, "--run-noise", a + "/journal.jsonl"}).exit_code, 2);
  EXPECT_THAT(assay({"compare", a, b, "--keep-run-noise", noise}).err,
              HasSubstr("do not show the noise between runs"));
}

TEST_F(Compare, ListsNewAndGoneRowsWhenAsked) {
  const std::string a = write("a", {accurate("x"), accurate("y")}),
                    b = write("b", {accurate("x"), accurate("z")});
  const std::string folded = assay({"compare", a, b}).out;
  EXPECT_THAT(folded, HasSubstr("\nGONE  1 row of the base without a result now: 1 shuffle\n"
                                "NEW   1 row without a result in the base: 1 shuffle\n"));
  EXPECT_THAT(folded, Not(HasSubstr("shuffle/y")));
  EXPECT_THAT(assay({"compare", a, b, "--new-and-gone"}).out, HasSubstr("shuffle/y (accu)"));
}

TEST_F(Compare, TellsTheTimeThatPerfCsvTells) {
  Record row = timed("x", 100, "p");
  row.perf->sample_us = {{1300}, {1301}, {1302}, {710, 711, 712, 713}, {709, 710, 711, 712}};
  const std::string a = write("a", {row});
  EXPECT_EQ(assay({"report", a}).exit_code, 0);
  EXPECT_THAT(read_file(a + "/perf.csv"), HasSubstr(",712.0000,"));
  EXPECT_THAT(assay({"compare", a, write("b", {row}), "--all"}).out, HasSubstr(" 712.00  712.00 "));
}

TEST_F(Compare, ExplainsARow) {
  const std::string a = base(), b = slower();
  const ProcessResult result = assay({"compare", a, b, "--explain", "edited"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith("SLOWER  shuffle/edited (perf)\n"));
  EXPECT_THAT(result.out,
              HasSubstr("\n  separation      blocks 100 to 100.04 us before, 110 to 110.05 us now: "));
  EXPECT_THAT(assay({"compare", a, b, "--explain", "*/same"}).out,
              ContainsRegex("^SAME  shuffle/same \\(accu\\)\n(.|\n)*\nSAME  shuffle/same \\(perf\\)\n"));
  const ProcessResult several = assay({"compare", a, b, "--explain", "shuffle"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("2 ids match; name one of them:\n  shuffle/same\n  shuffle/edited\n"));
  const ProcessResult none = assay({"compare", a, b, "--explain", "edted"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no id matches; the nearest are\n  shuffle/edited\n"));
}

TEST_F(Compare, ShowsEveryRowWhenAsked) {
  EXPECT_THAT(assay({"compare", base(), slower(), "--all"}).out,
              ContainsRegex("\n  SAME +100\\.02.*shuffle/same \\(perf\\)\n"));
}

TEST_F(Compare, PoolsSeveralRunsOfASide) {
  const std::string a = base(), b = slower();
  const std::string c =
      write("third", {accurate("same"), timed("same", 100, "p"), timed("edited", 115, "q")});
  EXPECT_EQ(assay({"compare", "--base", a, "--new", b, "--new", c}).exit_code, 1);
  const ProcessResult wide = assay({"compare", "--base", a, "--base", c, "--new", b});
  EXPECT_EQ(wide.exit_code, 0) << "slower than one run of the base, faster than the other: " << wide.out;
  EXPECT_THAT(assay({"compare", "--base", a, "--base", a, "--new", b}).err, HasSubstr("twice"));
}

TEST_F(Compare, WantsAnotherRunOnTheOtherSide) {
  const std::string a = base(), b = slower();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"compare", a, a + "/journal.jsonl"},
                                                {"compare", "--base", a, "--base", b, "--new", b}}) {
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, ContainsRegex("both sides are run (base|slower) of Acme GPU 9"));
  }
}

TEST_F(Compare, WantsTwoSides) {
  const std::string a = base();
  for (const std::vector<std::string>& sides :
       {std::vector<std::string>{}, {a}, {"--base", a}, {a, a, "--base", a}}) {
    std::vector<std::string> words = {"compare"};
    words.insert(words.end(), sides.begin(), sides.end());
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("give two reports, BASE NEW"));
  }
}

TEST_F(Compare, ComparesTheDevicesOfAFolderEachWithItself) {
  RunInfo other = run_info("run");
  other.device.uuid = "another";
  other.device.name = "Other";
  write("before/acme", {timed("x", 100, "p")}, run_info("run"));
  write("before/other", {timed("x", 200, "p")}, other);
  other.run_id = "next";
  write("after/acme", {timed("x", 100, "p")}, run_info("next"));
  write("after/other", {timed("x", 220, "q")}, other);
  const ProcessResult result = assay({"compare", folder / "before", folder / "after"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n1 SLOWER, 1 SAME\n"));
}

TEST_F(Compare, ComparesTwoDevicesWithoutAVerdictOfSpeed) {
  RunInfo other = run_info("other");
  other.device.uuid = "another";
  const std::string a = base();
  const ProcessResult result = assay(
      {"compare", a, write("other", {timed("same", 900, "p")}, other), "--fail-on", "slower,faster,broken"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("\n  - +100\\.02 +900\\.[0-9]+ +9x +shuffle/same \\(perf\\)\n"));
}

TEST_F(Compare, WritesFiles) {
  const std::string a = base(), b = slower();
  const std::string csv = folder / "c.csv", json = folder / "c.json", markdown = folder / "c.md";
  EXPECT_EQ(assay({"compare", a, b, "--csv", csv, "--json", json, "--markdown", markdown}).exit_code, 1);
  EXPECT_THAT(read_file(csv), StartsWith("verdict,case,"));
  EXPECT_EQ(std::ranges::count(read_file(csv), '\n'), 4);
  EXPECT_EQ(nlohmann::json::parse(read_file(json)).at("totals").at("SLOWER"), 1);
  EXPECT_THAT(read_file(markdown), HasSubstr("| SLOWER "));
  EXPECT_EQ(assay({"compare", a, b, "--csv", "-"}).out, read_file(csv));
  const ProcessResult unwritable = assay({"compare", a, b, "--csv", "/no/such/folder/c.csv"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/folder/c.csv"));
}

// ---- what cannot be compared

TEST_F(Compare, CannotCompareWithoutACommonCase) {
  const ProcessResult result = assay({"compare", base(), write("other", {accurate("elsewhere")})});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("the two sides have no row in common"));
}

TEST_F(Compare, CannotCompareAnotherSchema) {
  const std::string a = base(), b = slower();
  edit("slower", "\"schema\":3", "\"schema\":4");
  const ProcessResult result = assay({"compare", a, b});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(b + "/journal.jsonl:1: "));
  EXPECT_THAT(
      result.err,
      HasSubstr(
          "the journal has schema 4, and this assay reads schema 3: read it with the assay that wrote it"));
}

TEST_F(Compare, ReadsPublishedReportsWhichAreCompressed) {
  const std::string published = std::string(ASSAY_SOURCE_DIR) + "/reports/published/";
  const ProcessResult result =
      assay({"compare", published + "nvidia-h100", published + "nvidia-h200", "--fail-on", "none"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" SAME"));
}

TEST_F(Compare, CannotCompareWhatIsNotThere) {
  const std::string a = base();
  for (const std::string& missing : {std::string("/no/such/folder"), (folder / "empty").string()}) {
    std::filesystem::create_directories(folder / "empty");
    const ProcessResult result = assay({"compare", a, missing});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(missing));
  }
}

TEST_F(Compare, WarnsOfARunThatDidNotEnd) {
  const std::string a = base(), b = slower();
  edit("slower", "{\"event\":\"done\"}\n", "");
  ProcessResult result = assay({"compare", a, b});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("warning: " + b + "/journal.jsonl: the run did not finish"));
  folder.write("slower/journal.jsonl", read_file(b + "/journal.jsonl") + R"({"event":"rec)");
  result = assay({"compare", a, b});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("journal.jsonl: the journal's last line was cut off"));
}

TEST_F(Compare, GivesNoVerdictOnAJournalThatWasEdited) {
  const std::string a = base();
  const auto error_after = [&](const std::string& from, const std::string& to) {
    slower();
    edit("slower", from, to);
    const ProcessResult result = assay({"compare", a, folder / "slower"});
    EXPECT_EQ(result.exit_code, 2) << to;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(folder / "slower/journal.jsonl:"));
    return result.err;
  };
  EXPECT_THAT(error_after("\"round\":2", "\"round\":3"),
              HasSubstr("journal.jsonl:10: the record of shuffle/same (perf) contradicts itself: its block 3 "
                        "stands where block 2 should"));
  EXPECT_THAT(error_after("\"batch\":10", "\"batch\":11"), HasSubstr("'batch' is 10 and was 11"));
  EXPECT_THAT(error_after("\"batch\":10", "\"batch\":\"ten\""), HasSubstr("jsonl:8: this line"));
  EXPECT_THAT(error_after("\"samples_ns\":[", "\"samples_ns\":[0,"),
              HasSubstr("holds 0, which is not a time"));
  EXPECT_THAT(error_after("\"event\":\"end\"", "\"event\":\"over\""), HasSubstr("jsonl:5: this line"));
  EXPECT_THAT(error_after("\"event\":\"begin\"", "\"event\":begin"), HasSubstr("jsonl:3: "));
}

// ---- Google Benchmark's own tool

TEST_F(Compare, LeavesPerfJsonToGoogleBenchmarksToolToo) {
  const std::string tool = "/usr/share/benchmark/compare.py", python = "/usr/bin/python3";  // Debian's
  if (!std::filesystem::exists(tool) || run({.words = {python, "-c", "import scipy.stats"}}).exit_code != 0) {
    GTEST_SKIP() << "libbenchmark-tools or python3-scipy is not installed (scripts/setup.sh --dev)";
  }
  const std::string a = write("a", {timed("x", 100, "p", 10), timed("y", 50, "p", 12)});
  const std::string b = write("b", {timed("x", 110, "q", 8), timed("y", 50, "q", 15)});
  for (const std::string& one : {a, b}) ASSERT_EQ(assay({"report", one}).exit_code, 0);
  const ProcessResult result =
      run({.words = {python, tool, "--no-color", "benchmarks", a + "/perf.json", b + "/perf.json"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ContainsRegex("shuffle/x_pvalue +0\\.0000 +0\\.0000 +U Test, Repetitions: 50 vs 40"));
  EXPECT_THAT(result.out, ContainsRegex("shuffle/y_pvalue +[0-9.]+ +[0-9.]+ +U Test, Repetitions: 60 vs 75"));
  EXPECT_THAT(result.out, ContainsRegex("shuffle/x_median +\\+0\\.1[01]"));
}

}  // namespace
}  // namespace assay::test
