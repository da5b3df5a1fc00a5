#include "harness/report/compare/compare_text.h"

#include "harness/device/driver_name.h"
#include "harness/report/record/device_name.h"
#include "tests/support/report_text.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<double> steady_us = {100, 100.1, 100.2, 100.3, 100.4};
const std::vector<double> slow_us = {110, 110.1, 110.2, 110.3, 110.4};

Record measured(const std::string& name, const std::vector<double>& block_us) {
  return test::measured(name, test::blocks(block_us));
}

// One row of each kind.
RunComparison sample() {
  Record drifted = test::passed("drifted");
  drifted.accuracy->err_over_bound = 0.5;
  Record same_program = measured("environment", slow_us);
  Record program = measured("environment", steady_us);
  program.perf->program_hash = same_program.perf->program_hash = "p";
  Record suspect = measured("suspect", steady_us);
  suspect.perf->suspect = "too fast for the device";
  const Record skipped = test::without_answer("skipped", Status::Skipped, "asked for");
  const std::vector<RunReport> base = {
      test::run_of({test::passed("same"), measured("same", steady_us), measured("slower", steady_us),
                    measured("faster", slow_us), measured("ambiguous", {100, 100, 100, 100, 105}), program,
                    test::passed("gone"), test::passed("broken"), test::passed("drifted"),
                    measured("suspect", steady_us), skipped, measured("halved", steady_us)},
                   "run 1")};
  RunReport next =
      test::run_of({test::passed("same"), measured("same", steady_us), measured("slower", slow_us),
                    measured("faster", steady_us), measured("ambiguous", {104, 110, 110, 110, 110}),
                    same_program, test::failed("broken"), drifted, suspect, test::passed("new"), skipped,
                    measured("halved", {40, 40, 40, 40, 40})},
                   "run 2");
  next.complete = false;
  return compare_runs(base, std::vector{next});
}

TEST(CompareText, ShowsWhatIsNotTheSameWorstFirst) {
  EXPECT_TRUE(test::matches(compare_text(sample(), {}),
                            R"(base  run 1  Acme GPU 9, Acme 12.3  assay 0.1.0+b1a8850ccc06
new   run 2  Acme GPU 9, Acme 12.3  assay 0.1.0+b1a8850ccc06  (did not finish)

               base us  new us     time  needed     % ceiling  row
  BROKEN                                                       shuffle/broken/1x16x4x8/4W4C.4W4C/fused (accu)
      PASS before, FAIL (1 of 2 outputs is wrong) now
  SLOWER        100.20  110.20  +10.0 %   3.0 %  12.5 -> 12.5  shuffle/slower/1x16x4x8/4W4C.4W4C/fused (perf)
  SUSPECT       100.20  100.20   +0.0 %          12.5 -> 12.5  shuffle/suspect/1x16x4x8/4W4C.4W4C/fused (perf)
      new: too fast for the device
  DRIFTED                                                      shuffle/drifted/1x16x4x8/4W4C.4W4C/fused (accu)
      error/bound is 0.5, and was 0 before
  AMBIGUOUS     100.00  110.00  +10.0 %   6.0 %  12.5 -> 12.5  shuffle/ambiguous/1x16x4x8/4W4C.4W4C/fused (perf)    blocks overlap
  ENVIRONMENT   100.20  110.20  +10.0 %   3.0 %  12.5 -> 12.5  shuffle/environment/1x16x4x8/4W4C.4W4C/fused (perf)  the same program
  FASTER        110.20  100.20   -9.1 %   3.0 %  12.5 -> 12.5  shuffle/faster/1x16x4x8/4W4C.4W4C/fused (perf)
  FASTER        100.20   40.00   0.399x   3.0 %  12.5 -> 12.5  shuffle/halved/1x16x4x8/4W4C.4W4C/fused (perf)

GONE  1 row of the base without a result now: 1 shuffle
NEW   1 row without a result in the base: 1 shuffle
      --new-and-gone lists them

geometric means of new time / base time; significant: all blocks separate, by more than the row needs
  0.886x  shuffle fused, 4 of 6 rows significant

2 FASTER, 1 SLOWER, 2 SAME, 1 AMBIGUOUS, 1 ENVIRONMENT, 1 NEW, 1 GONE, 1 BROKEN, 1 DRIFTED, 1 SUSPECT; 1 row without a verdict
SAME: half of these rows would have shown a difference above 3.0 %, all of them one above 3.0 %
One run per side: differences up to 3 % are not reported, as the noise between runs of this
device is unknown. Several runs per side (--base A --base B) or --run-noise FILE
(docs/compare.md) lower this limit.
By chance alone, at most 0.05 of the 6 judged times would have completely separated blocks: 2 /
C(b+n, b) for b and n blocks, summed. An alarm needs a large enough effect as well. The bound
takes the blocks of both sides as exchangeable: it does not include differences between runs that
the blocks of one run do not show. Several runs per side (--base A --base B) bring these into the
spread. There is no p-value, as samples of one block are correlated.
)"));
}

TEST(CompareText, ShowsEveryRowWhenAsked) {
  const std::string text = compare_text(sample(), {.all = true});
  EXPECT_THAT(text, HasSubstr("  SAME          100.20  100.20   +0.0 %"));
  EXPECT_THAT(text, HasSubstr("shuffle/skipped/1x16x4x8/4W4C.4W4C/fused (accu)\n      no result on either"));
}

TEST(CompareText, ListsNewAndGoneRowsLastWhenAsked) {
  const std::string text = compare_text(sample(), {.new_and_gone = true});
  const std::size_t faster = text.find("  FASTER "), gone = text.find("  GONE "), added = text.find("  NEW ");
  ASSERT_NE(gone, text.npos);
  EXPECT_LT(faster, gone);
  EXPECT_LT(gone, added);
  EXPECT_THAT(text, Not(HasSubstr("--new-and-gone lists them")));
  EXPECT_THAT(compare_markdown(sample()),
              HasSubstr("\n- GONE  1 row of the base without a result now: 1 shuffle"));
}

TEST(CompareText, CountsFoldedRowsByOp) {
  const auto of_op = [](const std::string& name, const std::string& op) {
    Record record = test::passed(name);
    record.info.op = op;
    return record;
  };
  const std::vector<RunReport> base = {test::run_of({test::passed("a")})};
  std::vector<Record> records = {test::passed("a")};
  for (const char* op : {"clone", "view", "view", "view", "permute", "relu", "relu", "add", "embed"})
    records.push_back(of_op(op + std::to_string(records.size()), op));
  EXPECT_THAT(compare_text(compare_runs(base, std::vector{test::run_of(records)}), {}),
              HasSubstr("\nNEW   9 rows without a result in the base: 3 view, 2 relu, 1 add, 1 clone, 2 of 2 "
                        "other ops\n"));
}

TEST(CompareText, WritesLargeRatiosWithoutAnExponent) {
  const std::vector<RunReport> base = {test::run_of({measured("a", {1, 1, 1, 1, 1})}, "run 1")};
  const std::vector<RunReport> next = {
      test::run_of({measured("a", {1740, 1740, 1740, 1740, 1740})}, "run 2")};
  const RunComparison comparison = compare_runs(base, next);
  EXPECT_THAT(compare_text(comparison, {}), HasSubstr("  1740x  "));
  EXPECT_EQ(times_line(comparison.rows.at(0)), "1.00 -> 1740.00 us, 1740x");
}

TEST(CompareText, CountsTheMeansThatStayedAsTheyWere) {
  Record other = measured("b", steady_us);
  other.info.impl = "unfused";
  const std::vector<RunReport> base = {test::run_of({measured("a", steady_us), other})};
  const std::vector<RunReport> next = {test::run_of({measured("a", slow_us), other})};
  const RunComparison comparison = compare_runs(base, next);
  EXPECT_THAT(compare_text(comparison, {}),
              HasSubstr("  1.100x  shuffle fused, 1 of 1 row significant\n"
                        "  1.049x  all, 1 of 2 rows significant\n"
                        "  1 of 2 ops and impls within 1 %, without a significant row\n"));
  EXPECT_THAT(compare_text(comparison, {.all = true}),
              HasSubstr("  1.000x  shuffle unfused, none of 1 row significant\n"));
}

RunReport with_ceilings(double fp32, double copy) {
  RunReport report = test::run_of({measured("a", steady_us)});
  report.run.ceilings = {.bandwidth = {{.footprint_bytes = 1 << 30, .copy_gbps = copy}}, .fp32_gops = fp32};
  return report;
}

TEST(CompareText, SaysWhereTheCeilingsOfTheRunsDiffer) {
  const auto text = [](const RunReport& base, const RunReport& next) {
    return compare_text(compare_runs(std::vector{base}, std::vector{next}), {});
  };
  EXPECT_THAT(
      text(with_ceilings(1000, 200), with_ceilings(1100, 209)),
      HasSubstr("The runs' ceilings differ by more than 5 %; each % ceiling refers to its own run's:\n"
                "  ceiling fp32: 1000 GOP/s -> 1100 GOP/s (+10.0 %)\n\n"));
  EXPECT_THAT(text(with_ceilings(1000, 200), with_ceilings(1040, 195)), Not(HasSubstr("ceilings differ")));
}

TEST(CompareText, SaysWhatOneRunPerSideCanReport) {
  const auto text = [](const RunNoise& noise) {
    const std::vector<RunReport> base = {test::run_of({measured("a", steady_us)}, "1")};
    const std::vector<RunReport> next = {test::run_of({measured("a", steady_us)}, "2")};
    return compare_text(compare_runs(base, next, {}, noise), {});
  };
  EXPECT_THAT(text({}),
              HasSubstr("One run per side: differences up to 3 % are not reported, as the noise between"));
  const RunInfo run = test::sample_run();
  std::vector<RunPair> pairs(3, {.device_key = device_key(run), .driver = driver_of(run.device), .rows = 50});
  pairs[1].largest_pct = 1.8;
  EXPECT_THAT(
      text(RunNoise(pairs)),
      HasSubstr("One run per side: differences up to 1.8 % are not reported, as runs of one program"));
}

TEST(CompareText, SaysThatTwoDevicesAreNotJudged) {
  RunReport other = test::run_of({measured("a", slow_us)});
  other.run.device.uuid = "another";
  other.run.device.name = "Acme GPU 10";
  const std::string text = compare_text(
      compare_runs(std::vector{test::run_of({measured("a", steady_us)})}, std::vector{other}), {});
  EXPECT_THAT(text, HasSubstr("Two devices: speed gets no verdict"));
  EXPECT_THAT(text, HasSubstr("\n  -   100.20  110.20  +10.0 %  12.5 -> 12.5  shuffle/a"));
  EXPECT_THAT(
      text,
      HasSubstr("1.100x  shuffle fused, 1 of 1 row significant; 1.000x the base's share of the ceiling"));
  EXPECT_THAT(text, Not(HasSubstr("By chance")));
}

TEST(CompareText, IsPlainUnlessColorIsAskedFor) {
  EXPECT_EQ(compare_text(sample(), {.all = true}).find('\x1b'), std::string::npos);
  EXPECT_THAT(compare_text(sample(), {.color = true}), HasSubstr("\x1b[1;31mSLOWER\x1b[0m"));
}

TEST(CompareText, LetsNoTextOfOthersBreakIt) {
  Record odd = test::failed("odd");
  odd.reason = test::nasty;
  const std::vector<RunReport> base = {test::run_of({test::passed("odd")})};
  const RunComparison comparison = compare_runs(base, std::vector{test::run_of({odd})});
  for (const std::string& text : {compare_text(comparison, {}), explain(comparison.rows[0], false),
                                  compare_markdown(comparison), compare_csv(comparison)}) {
    EXPECT_EQ(valid_utf8(text), text);
    EXPECT_EQ(text.find('\x1b'), text.npos);
  }
  EXPECT_TRUE(nlohmann::json::accept(compare_json(comparison)));
}

TEST(Explain, ShowsBlocksAndEveryCondition) {
  const RunComparison comparison = sample();
  EXPECT_TRUE(test::matches(explain(comparison.rows[2], false),
                            R"(SLOWER  shuffle/slower/1x16x4x8/4W4C.4W4C/fused (perf)
  device          Acme GPU 9
  reason          100.2 us -> 110.2 us, 9.98 % slower: all blocks now (110 to 110.4 us) are above all blocks before (100 to 100.4 us), by more than the 3.00 % that this row needs

base
  runs            run 1
  status          PASS
  blocks, us      100  100.1  100.2  100.3  100.4
  median          100.2 us +- 0.20 %, of 5 samples
  clock           0.995 of full clock, by the clock probe
  spread          0.40 % between the blocks
  % ceiling       12.5, limited by latency

new
  runs            run 2
  status          PASS
  blocks, us      110  110.1  110.2  110.3  110.4
  median          110.2 us +- 0.18 %, of 5 samples
  clock           0.995 of full clock, by the clock probe
  spread          0.36 % between the blocks
  % ceiling       12.5, limited by latency

conditions; the last one decided
  result          base: PASS; new: PASS
  same task       yes
  status          PASS before, PASS now
  accuracy        error/bound 0 before, 0 now
  trust           no reason to doubt the times of either side
  blocks          5 before, 5 now; each side needs 5
  separation      blocks 100 to 100.4 us before, 110 to 110.4 us now: completely separated
  effect          9.98 %; more than 3.00 % is needed, the largest of: minimum 1.00 %, between runs 3.00 %, timer 0.00 %, spread 0.40 % before and 0.40 % now
  clock           by the clock probe the device ran at 0.995 of its full clock before, at 0.995 now
  same program    program %int before, program %int now: not known to be the same
)"));
}

TEST(CompareCsv, HasEveryRow) {
  const std::string csv = compare_csv(sample());
  const std::vector<std::string> lines = test::lines_of(csv);
  ASSERT_EQ(lines.size(), 14U);
  EXPECT_EQ(lines[0],
            "verdict,case,mode,cache,op,impl,shape,device,ratio,machine_ratio,net_ratio,net_low,net_high,"
            "effect_pct,needed_pct,chance,peak_ratio,"
            "significant,"
            "base_status,new_status,base_us,new_us,base_ci_pct,new_ci_pct,base_spread_pct,new_spread_pct,"
            "base_blocks,new_blocks,base_runs,new_runs,base_clock_ratio,new_clock_ratio,base_pct_peak,new_"
            "pct_peak,base_energy_j,new_energy_j,base_err_over_bound,"
            "new_err_over_bound,reason\r");
  EXPECT_THAT(
      lines[3],
      StartsWith(
          "SLOWER,shuffle/slower/1x16x4x8/4W4C.4W4C/fused,perf,,shuffle,fused,1x16x4x8,Acme GPU "
          "9,1.0998,,,,,9.98,3.00,0.00793651,1,true,PASS,PASS,100.2000,110.2000,0.20,0.18,0.40,0.36,5,5,1,"
          "1,0.995,0.995,12.50,12.50,,,0,0,"));
  EXPECT_THAT(lines[7],
              StartsWith("GONE,shuffle/gone/1x16x4x8/4W4C.4W4C/fused,accu,,shuffle,fused,1x16x4x8,"
                         "Acme GPU 9,,,,,,,,,,,PASS,,,,,,,,,,1,,,,,,,,0,,base: PASS; new: no such row"));
}

TEST(CompareJson, HasRunsTotalsAndRows) {
  const auto json = nlohmann::json::parse(compare_json(sample()));
  EXPECT_EQ(json.at("base").at(0).at("run_id"), "run 1");
  EXPECT_EQ(json.at("new").at(0).at("complete"), false);
  EXPECT_EQ(json.at("totals").at("FASTER"), 2);
  EXPECT_EQ(json.at("totals").at("SAME"), 2);
  EXPECT_EQ(json.at("without_verdict"), 1);
  EXPECT_EQ(json.at("geometric_means").at(0).at("rows"), 6);
  ASSERT_EQ(json.at("rows").size(), 13U);
  const auto& slower = json.at("rows").at(2);
  EXPECT_EQ(slower.at("verdict"), "SLOWER");
  EXPECT_EQ(slower.at("new").at("block_us"), slow_us);
  EXPECT_EQ(slower.at("conditions").size(), 10U);
  EXPECT_TRUE(json.at("rows").at(10).at("verdict").is_null());
}

TEST(CompareMarkdown, ShowsWhatTheTerminalShows) {
  const std::string text = compare_markdown(sample());
  EXPECT_THAT(text, StartsWith("| side | device     | driver    | assay "));
  EXPECT_THAT(text, HasSubstr("\n| SLOWER      | `shuffle/slower/1x16x4x8/4W4C.4W4C/fused` (perf)"));
  EXPECT_THAT(text, HasSubstr("\n| shuffle | fused |   0.8858 |    6 |           4 |"));
  EXPECT_THAT(text, HasSubstr("2 FASTER, 1 SLOWER"));
  EXPECT_THAT(text, HasSubstr("By chance alone"));
  EXPECT_THAT(text, Not(HasSubstr("| SAME")));
}

std::string compare_manual() {
  return test::read_file(std::string(ASSAY_SOURCE_DIR) + "/reports/README.md");
}

TEST(ReportsReadme, ShowsTheColumnsAndVerdictsOfAComparison) {
  EXPECT_THAT(compare_manual(),
              HasSubstr("\n### compare.csv\n\n" + markdown_table(compare_columns()) + "\n"));
  for (int i = 0; i < verdict_count; ++i) {
    EXPECT_THAT(compare_manual(),
                HasSubstr("\n| `" + std::string(name_of(static_cast<Verdict>(i))) + "` | "));
  }
}

}  // namespace
}  // namespace assay
