#include "harness/report/devices/pivot.h"

#include "harness/base/error.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Record hashed(const std::string& name, const std::string& hash, const std::string& mode = "accu") {
  Record record = test::passed(name);
  record.info.mode = mode;
  record.accuracy->output_hash = hash;
  return record;
}

const std::vector<std::string> devices = {"A", "Bee", "C"};

TEST(CompareHashes, CountsWhatIsEqualEverywhereSomewhereAndAlone) {
  const std::vector<RunReport> reports = {
      test::report_of({hashed("all", "1"), hashed("two", "2"), hashed("one", "3")}),
      test::report_of({hashed("all", "1"), hashed("two", "2")}), test::report_of({hashed("all", "1")})};
  const HashComparison comparison = compare_hashes(reports);
  EXPECT_EQ(comparison.equal, 1U);
  EXPECT_EQ(comparison.partial, 1U);
  EXPECT_EQ(comparison.single, 1U);
  EXPECT_TRUE(comparison.compared_any());
  EXPECT_EQ(hash_totals(comparison),
            "1 exact output equal on 3 devices, 1 on some of them; 1 on one device only, not compared\n");
  EXPECT_EQ(hash_differences(comparison, devices), "");
}

TEST(CompareHashes, NamesEveryDifference) {
  Record other_data = hashed("data", "6");
  other_data.accuracy->input_hash = "other";
  const std::vector<RunReport> reports = {
      test::report_of({hashed("same", "1"), hashed("odd", "2"), hashed("data", "5")}),
      test::report_of({hashed("odd", "2"), hashed("same", "1")}),
      test::report_of({hashed("same", "1"), hashed("odd", "4"), other_data})};
  const HashComparison comparison = compare_hashes(reports);
  EXPECT_EQ(hash_totals(comparison), "1 exact output equal on 3 devices; 2 differ\n");
  EXPECT_EQ(hash_differences(comparison, devices),
            "shuffle/odd/1x16x4x8/4W4C.4W4C/fused\n"
            "  A    2\n"
            "  Bee  2\n"
            "  C    4\n"
            "shuffle/data/1x16x4x8/4W4C.4W4C/fused  (the inputs differ: different data or seed)\n"
            "  A    5\n"
            "  Bee  -\n"
            "  C    6\n");
}

TEST(CompareHashes, TakesOnlyExactOutputs) {
  Record bounded = hashed("bounded", "1");
  bounded.accuracy->hash_is_portable = false;
  Record other = bounded;
  other.accuracy->output_hash = "2";
  const std::vector<RunReport> reports = {test::report_of({bounded}), test::report_of({other})};
  EXPECT_FALSE(compare_hashes(reports).compared_any());
  EXPECT_EQ(compare_hashes(reports).single, 0U);
}

TEST(CompareHashes, CountsACaseOfBothModesOnceByItsAccuracyRow) {
  const std::vector<RunReport> reports = {
      test::report_of({hashed("a", "1"), hashed("a", "2", "perf"), hashed("b", "7", "perf")}),
      test::report_of({hashed("a", "3", "perf"), hashed("a", "1"), hashed("b", "7", "perf")})};
  EXPECT_EQ(hash_totals(compare_hashes(reports)), "2 exact outputs equal on 2 devices\n");
}

RunReport pivot_report_on(const std::string& device, std::vector<Record> records) {
  RunReport report = test::report_of(std::move(records));
  report.run.device.name = device;
  return report;
}

std::vector<std::string> ids_of(const Pivot& pivot) {
  std::vector<std::string> ids;
  for (const PivotRow& row : pivot.rows) ids.push_back(row.any().info.id);
  return ids;
}

std::string id(const std::string& name, const std::string& impl = "fused") {
  return test::sample_case(name, "perf", impl).id;
}

TEST(Pivot, GivesEachDeviceANameOfItsOwn) {
  const std::vector<RunReport> reports = {pivot_report_on("X (a)", {}), pivot_report_on("X #1", {}),
                                          pivot_report_on("Y", {}), pivot_report_on("X (b)", {})};
  EXPECT_THAT(make_pivot(reports).devices, ElementsAre("X #2", "X #1", "Y", "X #3"));
}

TEST(Pivot, KeepsTheNumberOfADeviceWhenItsNameIsShortened) {
  EXPECT_EQ(shortened_device_name("H100 80GB HBM3 #1", 14), "H100 80G... #1");
  EXPECT_EQ(shortened_device_name("H100 80GB HBM3 #12", 14), "H100 80... #12");
  EXPECT_EQ(shortened_device_name("H100 80GB HBM3 PCIe", 14), "H100 80GB H...");
  EXPECT_EQ(shortened_device_name("Board #seven of eight", 14), "Board #seve...");
  EXPECT_EQ(shortened_device_name("H100 #1", 14), "H100 #1");
  const std::vector<RunReport> reports = {
      pivot_report_on("NVIDIA H100 80GB HBM3", {test::timed("a", "fused", 1)}),
      pivot_report_on("NVIDIA H100 80GB HBM3", {test::timed("a", "fused", 1)})};
  const std::string text = pivot_text(make_pivot(reports), {.width = 120});
  EXPECT_THAT(text, HasSubstr("H100 80G... #1, us"));
  EXPECT_THAT(text, HasSubstr("H100 80G... #2, us"));
}

TEST(Pivot, KeepsThePlansOrderAndAddsWhatIsNew) {
  const std::vector<RunReport> reports = {
      pivot_report_on("A", {test::timed("z", "fused", 1), test::passed("z"), test::timed("m", "fused", 1)}),
      pivot_report_on("B", {test::timed("a", "fused", 1), test::timed("m", "fused", 1)})};
  const Pivot pivot = make_pivot(reports);
  EXPECT_THAT(ids_of(pivot), ElementsAre(id("z"), id("m"), id("a")));
  EXPECT_EQ(pivot.rows[0].records[1], nullptr);
  EXPECT_EQ(pivot.rows[1].records[1], &reports[1].records[1]);
  EXPECT_EQ(pivot.rows[2].records[0], nullptr);
}

TEST(Pivot, DoesNotCompareWhatWasChangedBetweenTheRuns) {
  Record changed = test::timed("a", "fused", 1);
  changed.info.fill = "x=zero";
  const std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                          pivot_report_on("B", {changed})};
  EXPECT_EQ(make_pivot(reports).rows.size(), 2U);
}

TEST(Pivot, ComparesNoRobustRunWithOthersAndSaysSo) {
  std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                    pivot_report_on("B", {test::timed("a", "fused", 2)})};
  EXPECT_THAT(make_pivot(reports).not_compared(), ElementsAre());
  reports[1].run.robust_access = true;
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.means(1).front().rows, 0U);
  const std::string why =
      "figures of runs of different kinds are not compared. A: plain; B: with robust access "
      "(--robust-access)";
  EXPECT_THAT(pivot.not_compared(), ElementsAre(why));
  const std::string text = pivot_text(pivot, {.width = 200}), markdown = pivot_markdown(pivot);
  EXPECT_THAT(text, HasSubstr('\n' + why + '\n'));
  EXPECT_THAT(text, HasSubstr("\n  B, with robust access (--robust-access)\n"));
  EXPECT_THAT(text, HasSubstr("\n  B: a run of another kind\n"));
  EXPECT_THAT(markdown, HasSubstr('\n' + why + '\n'));
  EXPECT_THAT(markdown, HasSubstr("\n| B, with robust access (--robust-access) | B "));
  reports[0].run.robust_access = true;
  EXPECT_EQ(make_pivot(reports).means(1).front().rows, 1U) << "both are";
}

TEST(Pivot, ComparesNoRunWithTheValidationLayerWithOthersAndSaysSo) {
  std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                    pivot_report_on("B", {test::timed("a", "fused", 1.42)})};
  reports[1].run.validation = true;
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.means(1).front().rows, 0U);
  EXPECT_THAT(pivot.not_compared(),
              ElementsAre("figures of runs of different kinds are not compared. A: plain; B: with the "
                          "validation layer (--validation)"));
  reports[0].run.validation = true;
  EXPECT_EQ(make_pivot(reports).means(1).front().rows, 1U) << "both had it on";
  EXPECT_THAT(make_pivot(reports).not_compared(), ElementsAre());
}

TEST(Pivot, ComparesNoRunWithAProfileWithOthersAndSaysSo) {
  std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                    pivot_report_on("B", {test::timed("a", "fused", 2)})};
  reports[1].run.device.as_if = "minimum";
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.means(1).front().rows, 0U);
  EXPECT_THAT(pivot.not_compared(),
              ElementsAre("figures of runs of different kinds are not compared. A: plain; B: with the limits "
                          "of minimum (--as-if)"));
  reports[0].run.device.as_if = "minimum";
  EXPECT_EQ(make_pivot(reports).means(1).front().rows, 1U) << "both have it";
  EXPECT_THAT(make_pivot(reports).not_compared(), ElementsAre());
}

TEST(Pivot, NamesTheDevicesOfEachKindOfRun) {
  std::vector<RunReport> reports;
  for (const char* name : {"A", "B", "C", "D"})
    reports.push_back(pivot_report_on(name, {test::timed("a", "fused", 1)}));
  reports[0].run.robust_access = reports[2].run.robust_access = reports[3].run.robust_access = true;
  reports[3].run.validation = true;
  const Pivot pivot = make_pivot(reports);
  EXPECT_THAT(pivot.not_compared(),
              ElementsAre("figures of runs of different kinds are not compared. B: plain; A, C: with robust "
                          "access (--robust-access); D: with robust access (--robust-access), with the "
                          "validation layer (--validation)"));
  EXPECT_EQ(pivot.rows.size(), 3U) << "one for each kind";
  EXPECT_EQ(pivot.means(2).front().rows, 1U) << "A and C are of one kind";
  EXPECT_THAT(pivot_text(pivot, {.width = 80}),
              HasSubstr("\n  D, with robust access (--robust-access), with the validation layer\n"
                        "  (--validation)\n      "));
}

TEST(Pivot, ComparesNoRowsOfOtherTunablesAndSaysSo) {
  Record tuned = test::timed("a", "fused", 1);
  tuned.info.tune = "local_size=64";
  const std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                          pivot_report_on("B", {tuned})};
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.means(1).front().rows, 0U);
  EXPECT_THAT(pivot_text(pivot, {.width = 200}),
              HasSubstr("1 case is not compared: tunables differ between the devices"));
  Record by_file = test::timed("a", "fused", 1);
  by_file.info.tuned = "local_size=64 (line 3)";
  EXPECT_EQ(make_pivot({{reports[0], pivot_report_on("B", {by_file})}}).means(1).front().rows, 0U);
  EXPECT_EQ(make_pivot({{reports[1], pivot_report_on("C", {by_file})}}).means(1).front().rows, 1U)
      << "the file sets what the case sets";
}

TEST(Pivot, RowsOfOneAliasMeetWhateverItStoodFor) {
  Record rows = test::timed("a", "fused", 1), words = test::timed("a", "fused", 2);
  rows.info.forms = "x=buffer/CONV2D(4C) y=buffer/CONV2D(4C)";
  words.info.forms = "x=buffer/CONV2D(4C1W) y=buffer/CONV2D(4C1W)";
  const std::vector<RunReport> reports = {pivot_report_on("A", {rows}), pivot_report_on("B", {words})};
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.rows.size(), 1U);
  EXPECT_THAT(pivot_csv(pivot), HasSubstr(",x=buffer/CONV2D y=buffer/CONV2D,"));
}

TEST(Pivot, GivesTheRatioToTheFirstImplOfTheSameCase) {
  Record tuned = test::timed("a", "fused", 3);
  tuned.info.id += "/64";
  tuned.info.tune = "local_size=64";
  const std::vector<RunReport> reports = {
      pivot_report_on("A", {test::timed("alone", "fused", 7), test::timed("a", "fused", 2), tuned,
                            test::timed("a", "unfused", 5)})};
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.ratio(pivot.rows[0], 0), 0) << "nothing to compare with";
  EXPECT_EQ(pivot.ratio(pivot.rows[1], 0), 1);
  EXPECT_EQ(pivot.ratio(pivot.rows[2], 0), 1.5);
  EXPECT_EQ(pivot.ratio(pivot.rows[3], 0), 2.5);
}

TEST(Pivot, KeepsColdRowsApart) {
  Record cold = test::timed("a", "fused", 3);
  cold.info.cache = "cold";
  Record old = test::timed("a", "fused", 2);
  old.info.cache.clear();  // of a journal that knows no cache
  const std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 2), cold}),
                                          pivot_report_on("B", {old})};
  const Pivot pivot = make_pivot(reports);
  ASSERT_EQ(pivot.rows.size(), 2U);
  EXPECT_EQ(pivot.rows[0].records[1], &reports[1].records[0]);
  EXPECT_EQ(pivot.ratio(pivot.rows[1], 0), 0) << "the hot row is no other impl";
  EXPECT_THAT(pivot_markdown(pivot), HasSubstr("| fused, cold |"));
}

TEST(Pivot, GivesNoRatioToOrOfACaseWithoutATime) {
  Record wrong = test::timed("a", "fused", 2);
  wrong.status = Status::Fail;
  const std::vector<RunReport> reports = {
      pivot_report_on("A", {wrong, test::timed("a", "unfused", 5), test::timed("a", "other", 5)}),
      pivot_report_on("B", {test::timed("a", "fused", 2), test::timed("a", "unfused", 5)})};
  const Pivot pivot = make_pivot(reports);
  EXPECT_EQ(pivot.ratio(pivot.rows[1], 0), 0);
  EXPECT_EQ(pivot.ratio(pivot.rows[1], 1), 2.5);
  EXPECT_EQ(pivot.ratio(pivot.rows[2], 1), 0);
}

// Two devices: a case with two impls, one of which fails on B, and a case that only B has.
std::vector<RunReport> two_devices() {
  Record fused = test::timed("a", "fused", 2.5);
  fused.info.tune = "local_size=64";
  Record unfused = test::timed("a", "unfused", 10);
  unfused.perf->pct_peak_ops = 61;
  unfused.perf->limited_by = "operations";
  Record wrong = test::timed("a", "unfused", 1);
  wrong.status = Status::Fail;
  Record unsupported = test::without_answer("late", Status::Unsupported, "no int8");
  return {pivot_report_on("A (x)", {test::passed("p"), test::failed("q"), fused, unfused}),
          pivot_report_on("B|C",
                          {test::passed("p"), unsupported, fused, wrong, test::timed("b", "fused", 0.25)})};
}

TEST(PivotCsv, HasAGroupOfColumnsForEachDevice) {
  const std::vector<RunReport> reports = two_devices();
  const std::string info = ",shuffle,fused,1x16x4x8,x=buffer/4W4C y=buffer/4C1W,upscale_factor=2,";
  const std::string unfused = ",shuffle,unfused,1x16x4x8,x=buffer/4W4C y=buffer/4C1W,upscale_factor=2,";
  EXPECT_EQ(
      pivot_csv(make_pivot(reports)),
      "case,op,impl,shape,forms,params,tune,tuned,fill,cache,"
      "A:status,A:time_us_p50,A:ci_pct,A:gbps,A:pct_peak_bw,A:ratio_to_first,"
      "A:energy_j,A:gops_per_joule,A:power_w,A:energy_source,"
      "B|C:status,B|C:time_us_p50,B|C:ci_pct,B|C:gbps,B|C:pct_peak_bw,B|C:ratio_to_first,"
      "B|C:energy_j,B|C:gops_per_joule,B|C:power_w,B|C:energy_source\r\n" +
          id("a") + info +
          "local_size=64,,x=normal,hot,PASS,2.5000,0.75,3.2,12.50,1.0000,,,,,PASS,2.5000,0.75,3.2,12.50,1."
          "0000,,,,\r\n" +
          id("a", "unfused") + unfused +
          ",,x=normal,hot,PASS,10.0000,0.75,0.8,12.50,4.0000,,,,,FAIL,,,,,,,,,\r\n" + id("b") + info +
          ",,x=normal,hot,,,,,,,,,,,PASS,0.2500,0.75,32,12.50,,,,,\r\n");
}

TEST(PivotMarkdown, ShowsDevicesTimesTotalsAndHashes) {
  const std::vector<RunReport> reports = two_devices();
  EXPECT_EQ('\n' + pivot_markdown(make_pivot(reports)), R"(
| device | name  | driver    | assay              | started              | run      | ceilings                                                                             |
| ------ | ----- | --------- | ------------------ | -------------------- | -------- | ------------------------------------------------------------------------------------ |
| A      | A (x) | Acme 12.3 | 0.1.0+b1a8850ccc06 | 2026-01-02T03:04:05Z | complete | copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000, int8 dot 90000 GOP/s |
| B\|C   | B\|C  | Acme 12.3 | 0.1.0+b1a8850ccc06 | 2026-01-02T03:04:05Z | complete | copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000, int8 dot 90000 GOP/s |

| geometric mean of the time relative to A | B\|C | rows |
| ---------------------------------------- | ---: | ---: |
| all ops                                  |    1 |    1 |
| `shuffle`                                |    1 |    1 |

| case                                   | impl                  | A, us | +- % | GB/s | % ceiling | ratio | B\|C, us | +- % | GB/s | % ceiling | ratio |
| -------------------------------------- | --------------------- | ----: | ---: | ---: | --------: | ----: | -------: | ---: | ---: | --------: | ----: |
| `shuffle/a/1x16x4x8/4W4C.4W4C/fused`   | fused (local_size=64) |  2.50 |  0.8 | 3.20 |      12.5 |  1.00 |     2.50 |  0.8 | 3.20 |      12.5 |  1.00 |
| `shuffle/a/1x16x4x8/4W4C.4W4C/unfused` | unfused               | 10.00 |  0.8 | 0.80 |      61.0 |  4.00 |     FAIL |      |      |           |       |
| `shuffle/b/1x16x4x8/4W4C.4W4C/fused`   | fused                 |       |      |      |           |       |     0.25 |  0.8 | 32.0 |      12.5 |       |

| accuracy    |   A | B\|C |
| ----------- | --: | ---: |
| PASS        |   1 |    1 |
| UNSUPPORTED |   0 |    1 |
| FAIL        |   1 |    0 |
| all         |   2 |    2 |

1 exact output equal on 2 devices; 1 on one device only, not compared
)");
}

TEST(PivotMarkdown, LeavesOutWhatIsNotThere) {
  Record record = test::timed("a", "fused", 2);
  record.perf->pct_peak_bw = 0;
  const std::vector<RunReport> timed = {pivot_report_on("A", {record})};
  EXPECT_THAT(pivot_markdown(make_pivot(timed)), Not(HasSubstr("% ceiling")));
  EXPECT_THAT(pivot_markdown(make_pivot(timed)), Not(HasSubstr("ratio")));
  EXPECT_THAT(pivot_markdown(make_pivot(timed)), Not(HasSubstr("accuracy")));
  EXPECT_THAT(pivot_markdown(make_pivot(timed)), Not(HasSubstr("exact output")));
  const std::vector<RunReport> judged = {pivot_report_on("A", {test::passed("a")})};
  EXPECT_THAT(pivot_markdown(make_pivot(judged)), Not(HasSubstr("+- %")));
}

TEST(PivotMeans, AreOfTheRowsThatBothDevicesHave) {
  Record view = test::timed("v", "fused", 30);
  view.info.op = "view";
  Record slow_view = view;
  slow_view.perf->time_us_p50 = 60;
  const std::vector<RunReport> reports = {
      pivot_report_on("A", {test::timed("a", "fused", 10), test::timed("b", "fused", 10), view,
                            test::timed("alone", "fused", 3)}),
      pivot_report_on("B", {test::timed("a", "fused", 5), test::timed("b", "fused", 20), slow_view}),
      pivot_report_on("C", {test::timed("elsewhere", "fused", 5)})};
  const Pivot pivot = make_pivot(reports);
  const std::vector<PivotMean> means = pivot.means(1);
  ASSERT_EQ(means.size(), 3U);
  EXPECT_EQ(means[0].op, "");
  EXPECT_EQ(means[0].rows, 3U);
  EXPECT_NEAR(means[0].ratio, std::cbrt(2.0), 1e-12);
  EXPECT_EQ(means[1].op, "shuffle");
  EXPECT_NEAR(means[1].ratio, 1, 1e-12);
  EXPECT_EQ(means[2].op, "view");
  EXPECT_NEAR(means[2].ratio, 2, 1e-12);
  EXPECT_EQ(pivot.means(2).front().rows, 0U);
}

TEST(PivotText, ShowsCeilingsMeansAndCommonRows) {
  const std::vector<RunReport> reports = two_devices();
  EXPECT_EQ('\n' + pivot_text(make_pivot(reports), {.width = 80}), R"(
devices
  A
      Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z
      ceilings: copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000,
      int8 dot 90000 GOP/s
  B|C
      Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z
      ceilings: copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000,
      int8 dot 90000 GOP/s

geometric means of the time relative to A, over the rows that both have
  B|C
    1x  1 row  all ops
    1x  1 row  shuffle

  A, us  B|C, us      row
   2.50     2.50  1x  shuffle/a/1x16x4x8/4W4C.4W4C/fused (local_size=64)
  10.00     FAIL      shuffle/a/1x16x4x8/4W4C.4W4C/unfused
rows that only one device has: 1 B|C; --all lists them

1 exact output equal on 2 devices; 1 on one device only, not compared
)");
  EXPECT_THAT(pivot_text(make_pivot(reports), {.width = 80, .all = true}),
              HasSubstr("    0.25      shuffle/b/"));
}

TEST(PivotText, WritesLargeRatiosWithoutAnExponent) {
  const std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 1)}),
                                          pivot_report_on("B", {test::timed("a", "fused", 1740)})};
  const std::string text = pivot_text(make_pivot(reports), {.width = 80});
  EXPECT_THAT(text, HasSubstr("\n    1740x  1 row  all ops\n"));
  EXPECT_THAT(text, HasSubstr("  1740.00  1740x  shuffle/a/"));
  EXPECT_THAT(pivot_markdown(make_pivot(reports)), Not(HasSubstr("e+0")));
}

Record with_energy(Record record, double joules, const std::string& source) {
  record.perf->energy = Energy{.source = source, .joules = joules, .watts = 100};
  record.perf->operations = 2'000'000'000;
  return record;
}

// Two devices whose rows took 2 and 3 J, and one that told nothing.
std::vector<RunReport> three_devices(const std::string& source_of_b = "NVML power (the GPU)") {
  std::vector<RunReport> reports = {
      pivot_report_on("A", {with_energy(test::timed("a", "fused", 10), 2, "NVML counter (the GPU)"),
                            with_energy(test::timed("a", "unfused", 10), 8, "NVML counter (the GPU)"),
                            test::timed("in place", "fused", 10)}),
      pivot_report_on("B", {with_energy(test::timed("a", "fused", 5), 3, source_of_b),
                            with_energy(test::timed("a", "unfused", 5), 12, source_of_b),
                            test::timed("in place", "fused", 5)}),
      pivot_report_on("C", {test::timed("a", "fused", 4), test::timed("in place", "fused", 5)})};
  reports[0].run.energy = "NVML counter (the GPU)";
  reports[1].run.energy = source_of_b;
  return reports;
}

TEST(PivotFigures, AreThoseOfTheColumnThatIsAskedFor) {
  const std::vector<RunReport> reports = three_devices();
  const auto of = [&](const std::string& column, std::size_t device) {
    const Pivot pivot = make_pivot(reports, pivot_figure(column));
    return std::vector{pivot.value(pivot.rows[0], device), pivot.over_first(pivot.rows[0], device),
                       pivot.ratio(pivot.rows[1], device)};
  };
  EXPECT_THAT(of("time_us_p50", 1), ElementsAre(5, 0.5, 1));
  EXPECT_THAT(of("energy_j", 1), ElementsAre(3, 1.5, 4));
  EXPECT_THAT(of("gops_per_joule", 0), ElementsAre(1, 1, 0.25));
  EXPECT_THAT(of("power_w", 1), ElementsAre(100, 1, 1));
  EXPECT_THAT(of("energy_j", 2), ElementsAre(0, 0, 0)) << "it told none";
  EXPECT_THROW(static_cast<void>(pivot_figure("cost")), Error);
}

TEST(PivotFigures, OfEnergyHaveMeansOverTheRowsThatBothMeasured) {
  const std::vector<RunReport> reports = three_devices();
  const Pivot pivot = make_pivot(reports, pivot_figure("energy_j"));
  EXPECT_NEAR(pivot.means(1).front().ratio, 1.5, 1e-12);
  EXPECT_EQ(pivot.means(1).front().rows, 2U) << "the third row has none";
  EXPECT_EQ(pivot.means(2).front().rows, 0U);
}

TEST(PivotFigures, OfEnergyAreNotComparedWhereTheyCoverOtherThings) {
  const std::vector<RunReport> reports = three_devices("battery BAT0 (the whole machine)");
  const Pivot pivot = make_pivot(reports, pivot_figure("energy_j"));
  EXPECT_EQ(pivot.over_first(pivot.rows[0], 1), 0);
  EXPECT_EQ(pivot.means(1).front().rows, 0U);
  EXPECT_EQ(pivot.ratio(pivot.rows[1], 1), 4) << "on one device they are";
  EXPECT_THAT(pivot.not_compared(),
              ElementsAre("energies of B (the whole machine) are not compared with those of A (the GPU)"));
  EXPECT_THAT(make_pivot(reports).not_compared(), ElementsAre()) << "times are";
}

TEST(PivotFigures, LeaveTheRatioOfTimesInTheCsv) {
  const std::vector<RunReport> reports = three_devices();
  EXPECT_EQ(pivot_csv(make_pivot(reports, pivot_figure("energy_j"))), pivot_csv(make_pivot(reports)));
  EXPECT_THAT(pivot_csv(make_pivot(reports)),
              HasSubstr("PASS,10.0000,0.75,0.8,12.50,1.0000,2,1,100,NVML counter (the GPU),"));
}

TEST(PivotText, ComparesEnergies) {
  const std::vector<RunReport> reports = three_devices();
  EXPECT_EQ('\n' + pivot_text(make_pivot(reports, pivot_figure("energy_j")), {.width = 80}), R"(
devices
  A
      Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z
      ceilings: copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000,
      int8 dot 90000 GOP/s
      energy: NVML counter (the GPU)
  B
      Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z
      ceilings: copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000,
      int8 dot 90000 GOP/s
      energy: NVML power (the GPU)
  C
      Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z
      ceilings: copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000,
      int8 dot 90000 GOP/s
      energy: not measured (--energy)

geometric means of the energy relative to A, over the rows that both have
  B
    1.5x  2 rows  all ops
    1.5x  2 rows  shuffle
  C: no energies to compare

  A, J  B, J        row
     2     3  1.5x  shuffle/a/1x16x4x8/4W4C.4W4C/fused
     8    12  1.5x  shuffle/a/1x16x4x8/4W4C.4W4C/unfused
rows without energy_j: 1 of 3

0 exact outputs equal on 3 devices
)");
}

TEST(PivotText, ShowsTheEnergiesOfOneDeviceWithTheirRatios) {
  const std::vector<RunReport> reports = {three_devices()[0]};
  const std::string text = pivot_text(make_pivot(reports, pivot_figure("gops_per_joule")), {.width = 100});
  EXPECT_THAT(text, HasSubstr("  A, GOP/J  ratio  row\n"));
  EXPECT_THAT(text, HasSubstr("      0.25  0.25x  shuffle/a/1x16x4x8/4W4C.4W4C/unfused\n"));
}

TEST(PivotMarkdown, ComparesEnergies) {
  const std::vector<RunReport> reports = three_devices();
  const std::string text = pivot_markdown(make_pivot(reports, pivot_figure("energy_j")));
  EXPECT_THAT(text, HasSubstr(R"(
| geometric mean of the energy relative to A |   B | rows |   C | rows |
| ------------------------------------------ | --: | ---: | --: | ---: |
| all ops                                    | 1.5 |    2 |     |      |
)"));
  EXPECT_THAT(text, HasSubstr(R"(
| case                                   | impl    | A, J | B, J |  / A | C, J | / A |
| -------------------------------------- | ------- | ---: | ---: | ---: | ---: | --: |
| `shuffle/a/1x16x4x8/4W4C.4W4C/fused`   | fused   |    2 |    3 | 1.50 |      |     |
| `shuffle/a/1x16x4x8/4W4C.4W4C/unfused` | unfused |    8 |   12 | 1.50 |      |     |

rows without energy_j: 1 of 3
)"));
}

TEST(PivotMarkdown, ShowsJoulesNextToTimesWhereARowHasThem) {
  const std::vector<RunReport> reports = {three_devices()[0]};
  const std::string text = pivot_markdown(make_pivot(reports));
  EXPECT_THAT(text, HasSubstr("| A, us | +- % | GB/s | % ceiling | ratio |   J |"));
  EXPECT_THAT(text, HasSubstr("| 0.80 |      12.5 |  1.00 |   2 |"));
}

TEST(PivotText, CountsTheDevicesThatDoNotFit) {
  std::vector<RunReport> reports;
  for (const char* name : {"A", "B", "C", "D", "E", "F"})
    reports.push_back(pivot_report_on(name, {test::timed("a", "fused", 2)}));
  const std::string text = pivot_text(make_pivot(reports), {.width = 80});
  EXPECT_THAT(text, HasSubstr("\n  A, us  B, us      C, us      D, us      row\n"));
  EXPECT_THAT(text, HasSubstr("\nand 2 more devices: --csv FILE or --markdown FILE shows them\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(PivotText, ShowsOneDeviceWithItsCeilingsAndRatios) {
  const std::vector<RunReport> reports = {
      pivot_report_on("A", {test::timed("a", "fused", 2.5), test::timed("a", "unfused", 10)})};
  const std::string text = pivot_text(make_pivot(reports), {.width = 100});
  EXPECT_THAT(text, HasSubstr("  10.00   0.8       12.5  4.00x  shuffle/a/1x16x4x8/4W4C.4W4C/unfused\n"));
  EXPECT_THAT(text, Not(HasSubstr("geometric")));
}

TEST(PivotText, SaysWhereNoRowIsCommon) {
  const std::vector<RunReport> reports = {pivot_report_on("A", {test::timed("a", "fused", 2.5)}),
                                          pivot_report_on("B", {test::timed("b", "fused", 2.5)})};
  const std::string text = pivot_text(make_pivot(reports), {.width = 80});
  EXPECT_THAT(text, HasSubstr("\n  B: no row in common\n"));
  EXPECT_THAT(text, HasSubstr("\nno timed row is on more than one device\n"));
}

TEST(PivotMarkdown, SaysThatARunDidNotEnd) {
  std::vector<RunReport> reports = {pivot_report_on("A", {})};
  reports[0].complete = false;
  EXPECT_THAT(pivot_markdown(make_pivot(reports)), HasSubstr("| did not finish |"));
}

TEST(Pivot, KeepsItsTablesWholeWhateverTheTextIs) {
  std::vector<Record> records = test::all_kinds();
  for (Record& record : records) {
    record.info.id = record.info.impl = record.info.tune = record.info.shape = test::nasty + "|`";
  }
  const std::vector<RunReport> reports = {pivot_report_on(test::nasty, records),
                                          pivot_report_on("B", records)};
  const Pivot pivot = make_pivot(reports);
  for (const std::string& line : test::lines_of(pivot_markdown(pivot))) {
    if (line.empty() || !line.starts_with('|')) continue;
    EXPECT_TRUE(line.ends_with(" |")) << line;
    EXPECT_EQ(line.find_first_of("\x1b\r\x7f"), line.npos);
  }
  EXPECT_EQ(valid_utf8(pivot_csv(pivot)), pivot_csv(pivot));
  EXPECT_THAT(pivot_csv(pivot), StartsWith("case,op,"));
}

}  // namespace

}  // namespace assay
