#include "harness/report/compare/row_verdict.h"

#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using test::Series;
using ::testing::HasSubstr;

RowSide side_of(const Record& record, const RunInfo& run = test::sample_run()) {
  return pool_runs({&run}, {&record});
}

RowSide side_of(const std::vector<double>& block_us) {
  return side_of(test::measured("a", test::blocks(block_us)));
}

RowVerdict judge_rows(const Record& base, const Record& next, const CompareOptions& options = {}) {
  return row_verdict(side_of(base), side_of(next), options);
}

RowVerdict judge_blocks(const std::vector<double>& base, const std::vector<double>& next) {
  return row_verdict(side_of(base), side_of(next), {});
}

const std::vector<double> steady_times = {100, 100.1, 100.2, 100.3, 100.4};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(Verdict, HasNamesThatAreReadBackInAnyCase) {
  for (int i = 0; i < verdict_count; ++i) {
    EXPECT_EQ(parse_verdict(name_of(static_cast<Verdict>(i))), static_cast<Verdict>(i));
  }
  EXPECT_EQ(parse_verdict("slower"), Verdict::Slower);
  EXPECT_FALSE(parse_verdict("slow").has_value());
}

TEST(ChanceOfSeparation, IsTwoInAllOrdersOfTheBlocks) {
  EXPECT_DOUBLE_EQ(chance_of_separation(5, 5), 2.0 / 252);
  EXPECT_DOUBLE_EQ(chance_of_separation(5, 10), 2.0 / 3003);
  EXPECT_DOUBLE_EQ(chance_of_separation(10, 5), 2.0 / 3003);
  EXPECT_DOUBLE_EQ(chance_of_separation(1, 1), 1);
}

TEST(RowSide, PoolsEnergiesOfOneSourceOnly) {
  const RunInfo run = test::sample_run();
  const auto measured = [](const std::string& source, double joules) {
    Record record = test::measured("a", test::blocks(steady_times));
    record.perf->energy = Energy{.source = source, .joules = joules};
    return record;
  };
  const Record without = test::measured("a", test::blocks(steady_times));
  const Record a = measured("NVML", 1), b = measured("NVML", 3), other = measured("RAPL", 9);
  EXPECT_EQ(pool_runs({&run, &run, &run}, {&a, &without, &b}).energy_j, 2);
  EXPECT_EQ(pool_runs({&run, &run}, {&a, &other}).energy_j, 0);
  EXPECT_EQ(side_of(without).energy_j, 0);
}

TEST(RowSide, PoolsTheBlocksOfItsRuns) {
  RunInfo first = test::sample_run(), second = test::sample_run();
  first.run_id = "1";
  second.run_id = "2";
  const Record a = test::measured("a", {{1, 2, 9}, {3}}), b = test::measured("a", {{4, 6}});
  const RowSide side = pool_runs({&first, &second}, {&a, &b});
  EXPECT_EQ(side.runs, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(side.block_us, (std::vector<double>{2, 3, 5}));
  EXPECT_EQ(side.samples, 6);
  EXPECT_EQ(side.time_us, 3.5) << "of all samples, as time_us_p50 of perf.csv";
  EXPECT_NEAR(side.spread_pct, 300 / 3.5, 1e-9);
  EXPECT_EQ(side.ci_pct, 50) << "of the blocks' median";
  EXPECT_EQ(side.pct_peak, 12.5);
}

TEST(RowSide, IsAsBadAsItsWorstRun) {
  const RunInfo run = test::sample_run();
  const Record good = test::passed("a"), bad = test::failed("a"),
               skipped = test::without_answer("a", Status::Skipped, "asked for");
  EXPECT_EQ(pool_runs({&run, &run, &run}, {&good, &bad, &skipped}).status, Status::Fail);
  EXPECT_EQ(pool_runs({&run, &run, &run}, {&good, &bad, &skipped}).reason, "1 of 2 outputs is wrong");
  EXPECT_EQ(pool_runs({&run, &run}, {&good, &skipped}).status, Status::Skipped);
}

// ---- speed

TEST(Judge, SeesTheSameTimes) {
  const RowVerdict same = judge_blocks(steady_times, steady_times);
  EXPECT_EQ(same.verdict, Verdict::Same);
  EXPECT_EQ(same.ratio, 1);
  EXPECT_EQ(same.needed_pct, 3);
  EXPECT_THAT(same.reason, HasSubstr("no difference above 3.00 %"));
}

TEST(Judge, CallsACompleteSeparationByMoreThanItNeedsSlowerOrFaster) {
  const RowVerdict slower = judge_blocks(steady_times, scaled(steady_times, 1.05));
  EXPECT_EQ(slower.verdict, Verdict::Slower);
  EXPECT_NEAR(slower.effect_pct, 5, 1e-9);
  EXPECT_EQ(
      slower.reason,
      "100.2 us -> 105.21 us, 5.00 % slower: all blocks now (105 to 105.42 us) are above all blocks before "
      "(100 to 100.4 us), by more than the 3.00 % that this row needs");
  const RowVerdict faster = judge_blocks(scaled(steady_times, 1.05), steady_times);
  EXPECT_EQ(faster.verdict, Verdict::Faster);
  EXPECT_DOUBLE_EQ(faster.effect_pct, slower.effect_pct) << "neither direction is easier";
  EXPECT_THAT(faster.reason, HasSubstr("are below all blocks before"));
}

/// Two runs a side, of the same blocks each.
RowVerdict judge_two_runs(const std::vector<double>& base, const std::vector<double>& next) {
  RunInfo first = test::sample_run(), second = test::sample_run();
  second.run_id = "another";
  const auto pooled = [&](const std::vector<double>& block_us) {
    const Record record = test::measured("a", test::blocks(block_us));
    return pool_runs({&first, &second}, {&record, &record});
  };
  return row_verdict(pooled(base), pooled(next), {});
}

TEST(Judge, CallsOnePercentNothing) {
  EXPECT_EQ(judge_two_runs(steady_times, scaled(steady_times, 1.0099)).verdict, Verdict::Same);
  EXPECT_EQ(judge_two_runs(steady_times, scaled(steady_times, 1.0101)).verdict, Verdict::Slower);
}

TEST(Judge, ReportsNothingWithinRunNoiseFromOneRunPerSide) {
  const RowVerdict below = judge_blocks(steady_times, scaled(steady_times, 1.029));
  EXPECT_EQ(below.verdict, Verdict::Ambiguous);
  EXPECT_THAT(below.reason, HasSubstr("completely separated, but by no more than the 3.00 % by which two "
                                      "runs of one program may differ"));
  EXPECT_FALSE(below.is_significant);
  EXPECT_EQ(judge_blocks(steady_times, scaled(steady_times, 1.031)).verdict, Verdict::Slower);
  EXPECT_EQ(judge_blocks(steady_times, scaled(steady_times, 0.98)).verdict, Verdict::Ambiguous);
  EXPECT_EQ(judge_blocks(steady_times, scaled(steady_times, 1.0099)).verdict, Verdict::Same)
      << "less than the smallest effect";
  EXPECT_EQ(judge_two_runs(steady_times, scaled(steady_times, 1.02)).verdict, Verdict::Slower)
      << "two runs per side show the noise";
}

TEST(Judge, ClaimsWhatIsMoreThanTheRunsOfTheDeviceAreKnownToDifferBy) {
  const auto judged = [](double known_pct) {
    return row_verdict(side_of(steady_times), side_of(scaled(steady_times, 1.02)),
                       {.between_runs_pct = known_pct});
  };
  EXPECT_EQ(judged(1.9).verdict, Verdict::Slower);
  EXPECT_EQ(judged(2.1).verdict, Verdict::Ambiguous);
  EXPECT_EQ(judged(0).verdict, Verdict::Slower);
}

TEST(Judge, TellsTheMedianOfAllSamplesOfARowWhoseBlocksDiffer) {
  // Three blocks of few samples in the slow mode, two of many in the fast one.
  const Series two_modes = {{1300}, {1301}, {1302}, {710, 711, 712, 713}, {709, 710, 711, 712}};
  const Record record = test::measured("a", two_modes);
  EXPECT_EQ(side_of(record).time_us, record.perf->time_us_p50);
  EXPECT_EQ(side_of(record).time_us, 712);
}

TEST(Judge, TakesAnotherSmallestEffect) {
  const CompareOptions options{.smallest_effect_pct = 6};
  EXPECT_EQ(row_verdict(side_of(steady_times), side_of(scaled(steady_times, 1.05)), options).verdict,
            Verdict::Same);
}

TEST(Judge, NeedsMoreThanTheRowsOwnSpread) {
  const RowVerdict ambiguous =
      judge_blocks({100, 100, 100, 100, 100}, {101.5, 102, 103, 104, 108});  // 3 %, spread 6.3 %
  EXPECT_EQ(ambiguous.verdict, Verdict::Ambiguous);
  EXPECT_THAT(ambiguous.reason, HasSubstr("completely separated, but by less than the 6.50 %"));
  EXPECT_EQ(judge_blocks({101.5, 102, 103, 104, 108}, {100, 100, 100, 100, 100}).verdict, Verdict::Ambiguous);
}

TEST(Judge, IsAmbiguousWhereOneBlockContradictsALargeEffect) {
  const RowVerdict overlapping = judge_blocks(steady_times, {100.2, 110, 110, 110, 110});
  EXPECT_EQ(overlapping.verdict, Verdict::Same) << "9.8 % are no more than it scatters";
  const RowVerdict ambiguous = judge_blocks({100, 100, 100, 100, 105}, {104, 110, 110, 110, 110});
  EXPECT_EQ(ambiguous.verdict, Verdict::Ambiguous);
  EXPECT_THAT(ambiguous.reason, HasSubstr("10.0 % slower: more than the 6.00 % that this row needs, but the "
                                          "blocks overlap (100 to 105 us before, 104 to 110 us now)"));
}

TEST(Judge, NeedsFiveBlocksOnEachSide) {
  const RowVerdict few = judge_blocks(steady_times, {200, 200, 200, 200});
  EXPECT_EQ(few.verdict, Verdict::Ambiguous);
  EXPECT_EQ(few.reason, "too few blocks: 5 before, 4 now; each side needs 5");
  EXPECT_EQ(few.chance, 0);
  EXPECT_EQ(judge_blocks({1, 1, 1}, steady_times).verdict, Verdict::Ambiguous);
}

TEST(Judge, NeedsMoreThanTheUnitOfTheClock) {
  Record base = test::measured("a", test::blocks({1, 1, 1, 1, 1}));
  Record next = test::measured("a", test::blocks({1.05, 1.05, 1.05, 1.05, 1.05}));
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower);
  base.perf->batch = 1;  // the unit is 32.5 ns
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower);
  EXPECT_NEAR(judge_rows(base, next).needed_pct, 3.25, 1e-9);
  for (double& us : next.perf->sample_us[0]) us = 1.03;
  next.perf->sample_us = test::blocks({1.03, 1.03, 1.03, 1.03, 1.03});
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Same) << "3 % are less than a unit";
}

TEST(Judge, CallsNothingTheSameThatItCouldNotTellApart) {
  const RowVerdict noisy = judge_blocks({100, 100, 100, 100, 111}, {100, 100, 100, 100, 111});
  EXPECT_EQ(noisy.verdict, Verdict::Ambiguous);
  EXPECT_THAT(noisy.reason, HasSubstr("too noisy, only a difference above 11.0 % would show"));
  const RowVerdict quiet = judge_blocks({100, 100, 100, 100, 109}, {100, 100, 100, 100, 109});
  EXPECT_EQ(quiet.verdict, Verdict::Same);
}

// ---- the device's clock

RowVerdict judge_clocks(double before, double now, double factor) {
  Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, factor)));
  base.perf->clock_ratio = before;
  next.perf->clock_ratio = now;
  return judge_rows(base, next);
}

TEST(Judge, BlamesADeviceThatWasSlowerItself) {
  const RowVerdict throttled = judge_clocks(0.99, 0.6, 1.7);
  EXPECT_EQ(throttled.verdict, Verdict::Environment);
  EXPECT_THAT(throttled.reason,
              HasSubstr("70.0 % slower, but by the clock probe the device ran at 0.990 of its full "
                        "clock before, at 0.600 now"));
  EXPECT_EQ(judge_clocks(0.6, 0.99, 1 / 1.7).verdict, Verdict::Environment);
}

TEST(Judge, BlamesNoClockThatExplainsNothing) {
  EXPECT_EQ(judge_clocks(0.99, 0.95, 1.1).verdict, Verdict::Slower) << "4 % are no other state";
  EXPECT_EQ(judge_clocks(0.6, 0.99, 1.1).verdict, Verdict::Slower) << "slower although the device was faster";
  EXPECT_EQ(judge_clocks(0.99, 0.6, 3.4).verdict, Verdict::Slower)
      << "more than twice what the clock probe shows";
  EXPECT_EQ(judge_clocks(0, 0.6, 1.7).verdict, Verdict::Slower) << "no clock probe, nothing known";
}

// ---- the same program

Record with_program(std::vector<double> block_us, const std::string& hash) {
  Record record = test::measured("a", test::blocks(block_us));
  record.perf->program_hash = hash;
  return record;
}

TEST(Judge, BlamesTheEnvironmentForADifferenceOfOneProgram) {
  const Record base = with_program(steady_times, "p"), next = with_program(scaled(steady_times, 1.05), "p");
  const RowVerdict environment = judge_rows(base, next);
  EXPECT_EQ(environment.verdict, Verdict::Environment);
  EXPECT_THAT(environment.reason, HasSubstr("5.00 % slower, but the device ran the same program"));
  EXPECT_EQ(judge_rows(base, next, {.judge_same_programs = true}).verdict, Verdict::Slower);
  EXPECT_EQ(judge_rows(base, base).verdict, Verdict::Same) << "nothing to blame";
  EXPECT_EQ(judge_rows(base, with_program(scaled(steady_times, 1.02), "p")).verdict, Verdict::Same)
      << "no more than runs may differ by";
}

TEST(Judge, JudgesProgramsThatAreNotKnownToBeTheSame) {
  EXPECT_EQ(
      judge_rows(with_program(steady_times, "p"), with_program(scaled(steady_times, 1.05), "q")).verdict,
      Verdict::Slower);
  EXPECT_EQ(judge_rows(with_program(steady_times, ""), with_program(scaled(steady_times, 1.05), "")).verdict,
            Verdict::Slower);
}

TEST(Judge, JudgesOneProgramUnderAnotherDriver) {
  const Record base = with_program(steady_times, "p"), next = with_program(scaled(steady_times, 1.05), "p");
  RunInfo updated = test::sample_run();
  updated.device.driver_info = "12.4";
  const RowVerdict slower = row_verdict(side_of(base), side_of(next, updated), {});
  EXPECT_EQ(slower.verdict, Verdict::Slower);
  EXPECT_THAT(slower.reason, HasSubstr("; driver Acme 12.3 before, Acme 12.4 now"));
}

TEST(Judge, SaysWhichShadersChanged) {
  const Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 1.05)));
  next.info.shaders = "edited";
  EXPECT_THAT(judge_rows(base, next).reason, HasSubstr("; shaders embedded before, edited now"));
}

// ---- what is not judged

TEST(Judge, ComparesNoTimesOfOtherTunables) {
  const Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
  next.info.tune = "local_size=64";
  const RowVerdict verdict = judge_rows(base, next);
  EXPECT_EQ(verdict.verdict, Verdict::Ambiguous);
  EXPECT_EQ(verdict.ratio, 0);
  EXPECT_EQ(verdict.reason, "not compared: tunables none before, local_size=64 now");
  Record both = base;
  both.info.tune = "local_size=64";
  EXPECT_EQ(judge_rows(both, next).verdict, Verdict::Slower) << "both have the same ones";
  Record wrong = test::failed("a");
  wrong.info.tune = "local_size=64";
  EXPECT_EQ(judge_rows(test::passed("a"), wrong).verdict, Verdict::Broken) << "answers are compared";
}

TEST(Judge, NamesWhatTuningFilesSetWhereThatIsJudged) {
  Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
  base.info.tuned = "tile=32 (line 3)";
  next.info.tuned = "tile=64 (line 3)";
  EXPECT_EQ(judge_rows(base, next).reason, "not compared: tunables tile=32 before, tile=64 now");
  const RowVerdict allowed = judge_rows(base, next, {.allow_tuning = true});
  EXPECT_EQ(allowed.verdict, Verdict::Slower);
  EXPECT_THAT(allowed.reason, HasSubstr("; tuning file tile=32 before, tile=64 now"));
  next.info.tuned = "tile=32 (line 9)";
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower) << "the same values from another line";
  next.info.tuned.clear();
  next.info.tune = "tile=32";
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower) << "the case sets what the file set";
}

TEST(Judge, RefusesACaseThatWasEditedUnderItsId) {
  const Record base = test::measured("a", test::blocks(steady_times));
  const auto refused = [&](auto edit) {
    Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
    edit(next);
    const RowVerdict verdict = judge_rows(base, next);
    EXPECT_EQ(verdict.verdict, Verdict::Ambiguous);
    EXPECT_EQ(verdict.ratio, 0);
    return verdict.reason;
  };
  EXPECT_EQ(
      refused([](Record& r) { r.info.params = "upscale_factor=3"; }),
      "not comparable: the case was changed but kept its id, params upscale_factor=2 and upscale_factor=3");
  EXPECT_THAT(refused([](Record& r) { r.info.shape = "2"; }), HasSubstr("shape 1x16x4x8 and 2"));
  EXPECT_THAT(refused([](Record& r) { r.info.op = "b"; }), HasSubstr("op shuffle and b"));
  EXPECT_THAT(refused([](Record& r) { r.info.impl = "b"; }), HasSubstr("impl fused and b"));
  EXPECT_THAT(refused([](Record& r) { r.info.forms = ""; }), HasSubstr("y=buffer/4C1W and none"));
  EXPECT_THAT(refused([](Record& r) { r.info.fill = "x=zero"; }), HasSubstr("fill x=normal and x=zero"));
  EXPECT_THAT(refused([](Record& r) { r.info.seed = 8; }), HasSubstr("seed 7 and 8"));
}

TEST(Judge, JudgesRowsOfOneAliasWhateverItStoodFor) {
  Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
  base.info.forms = "x=buffer/CONV2D(4C) y=buffer/4C";
  next.info.forms = "x=buffer/CONV2D(4C1W) y=buffer/4C";
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower);
  next.info.forms = "x=buffer/CONV2D(4C1W) y=buffer/4C1W";
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Ambiguous);
}

TEST(Judge, RefusesOtherInputs) {
  const Record base = test::passed("a");
  Record next = test::passed("a");
  next.accuracy->input_hash = "0";
  EXPECT_THAT(judge_rows(base, next).reason, HasSubstr("inputs of hash 1111"));
  next.accuracy->input_hash.clear();
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Same) << "unknown is no difference";
}

TEST(Judge, RefusesASideWhoseRunsDisagree) {
  const RunInfo run = test::sample_run();
  const Record a = test::measured("a", test::blocks(steady_times));
  Record b = a;
  b.info.params = "upscale_factor=3";
  const RowVerdict refused = row_verdict(pool_runs({&run, &run}, {&a, &b}), side_of(a), {});
  EXPECT_EQ(refused.verdict, Verdict::Ambiguous);
  EXPECT_THAT(refused.reason, HasSubstr("the runs of one side have different tasks"));
}

TEST(Judge, SuspectsATimeThatCannotBeTrusted) {
  const Record good = test::measured("a", test::blocks(steady_times));
  const auto suspected = [&](auto spoil) {
    Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
    RunInfo run = test::sample_run();
    spoil(next, run);
    for (const bool swap : {false, true}) {
      const RowVerdict verdict = swap ? row_verdict(side_of(next, run), side_of(good), {})
                                      : row_verdict(side_of(good), side_of(next, run), {});
      EXPECT_EQ(verdict.verdict, Verdict::Suspect) << verdict.reason;
      if (swap) return verdict.reason;
    }
    return std::string();
  };
  EXPECT_EQ(suspected([](Record& r, RunInfo&) {
              r.status = Status::Suspect;
              r.reason = "too fast";
            }),
            "base: too fast");
  EXPECT_EQ(suspected([](Record& r, RunInfo&) { r.perf->suspect = "108 %"; }), "base: 108 %");
  EXPECT_EQ(suspected([](Record& r, RunInfo& run) {
              r.perf->timer = "broken";
              run.timer.note = "it stands still";
            }),
            "base: the device's timer is broken: it stands still");
  EXPECT_EQ(suspected([](Record& r, RunInfo&) { r.perf->verified = false; }),
            "base: the timed outputs were not verified");
  EXPECT_EQ(suspected([](Record&, RunInfo& run) { run.validation = true; }),
            "base: it was timed with the validation layer on");
  EXPECT_EQ(suspected([](Record& r, RunInfo&) { r.perf->clock = "wall"; }),
            "the times come from different clocks: wall before, gpu now");
}

TEST(Judge, GivesSpeedNoVerdictBetweenTwoDevices) {
  const Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
  next.perf->pct_peak_bw = 50;
  const RowVerdict verdict = judge_rows(base, next, {.cross_device = true});
  EXPECT_FALSE(verdict.verdict.has_value());
  EXPECT_EQ(verdict.reason, "100.2 us and 200.4 us, 12.5 % and 50.0 % of the ceilings of the two devices");
  EXPECT_DOUBLE_EQ(verdict.ratio, 2);
  EXPECT_DOUBLE_EQ(verdict.peak_ratio, 4);
  EXPECT_TRUE(verdict.is_significant);
  EXPECT_FALSE(judge_rows(base, base, {.cross_device = true}).is_significant);
  const RowVerdict far =
      row_verdict(side_of({100, 110, 120, 130, 140}), side_of({1, 1, 1, 1, 1}), {.cross_device = true});
  EXPECT_TRUE(far.is_significant) << "it scatters by 40 times the other's time, and is far from it";
}

// ---- accuracy and presence

TEST(Judge, KnowsWhatIsNewAndWhatIsGone) {
  const Record row = test::measured("a", test::blocks(steady_times));
  const Record skipped = test::without_answer("a", Status::Skipped, "asked for");
  EXPECT_EQ(row_verdict({}, side_of(row), {}).verdict, Verdict::New);
  EXPECT_EQ(row_verdict(side_of(row), {}, {}).verdict, Verdict::Gone);
  EXPECT_EQ(judge_rows(skipped, test::passed("a")).verdict, Verdict::New);
  const RowVerdict gone = judge_rows(test::passed("a"), skipped);
  EXPECT_EQ(gone.verdict, Verdict::Gone);
  EXPECT_EQ(gone.reason, "base: PASS; new: SKIPPED (asked for)");
  EXPECT_EQ(judge_rows(test::passed("a"), test::without_answer("a", Status::Missing, "not reached")).verdict,
            Verdict::Gone);
}

TEST(Judge, ARowWhoseFailureARuleExpectsIsNoRegression) {
  const Record expected = test::without_answer("a", Status::ExpectedFail, "expected (a bug): wrong");
  for (const Record& before : {test::passed("a"), test::measured("a", test::blocks(steady_times))}) {
    const RowVerdict known = judge_rows(before, expected);
    EXPECT_FALSE(known.verdict.has_value()) << "not GONE";
    EXPECT_EQ(known.reason, "a known failure: PASS before, EXPECTED_FAIL (expected (a bug): wrong) now");
  }
  EXPECT_EQ(judge_rows(expected, test::passed("a")).verdict, Verdict::New);
}

TEST(Judge, HasNothingToSayWithoutAResult) {
  const Record skipped = test::without_answer("a", Status::Skipped, "asked for");
  const Record unsupported = test::without_answer("a", Status::Unsupported, "no int8");
  EXPECT_FALSE(judge_rows(skipped, unsupported).verdict.has_value());
  EXPECT_FALSE(row_verdict(side_of(skipped), {}, {}).verdict.has_value());
  EXPECT_FALSE(judge_rows(test::failed("a"), test::failed("a")).verdict.has_value());
}

TEST(Judge, CallsRowsBrokenThatWereRight) {
  const RowVerdict broken = judge_rows(test::passed("a"), test::failed("a"));
  EXPECT_EQ(broken.verdict, Verdict::Broken);
  EXPECT_EQ(broken.reason, "PASS before, FAIL (1 of 2 outputs is wrong) now");
  for (const Status status : {Status::Mistrusted, Status::Crash, Status::Timeout, Status::OutOfMemory,
                              Status::Flaky, Status::DeviceLost}) {
    EXPECT_EQ(judge_rows(test::passed("a"), test::without_answer("a", status, "")).verdict, Verdict::Broken);
  }
  EXPECT_EQ(judge_rows(test::failed("a"), test::passed("a")).verdict, Verdict::New) << "right again";
}

TEST(Judge, CallsATimedRowBrokenToo) {
  const Record base = test::measured("a", test::blocks(steady_times));
  Record next = base;
  next.status = Status::Fail;
  next.perf.reset();
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Broken);
}

TEST(Judge, CallsAnUnexpectedPassAPass) {
  Record next = test::passed("a");
  next.status = Status::UnexpectedPass;
  EXPECT_EQ(judge_rows(test::passed("a"), next).verdict, Verdict::Same);
}

TEST(Judge, SeesAccuracyDriftByMoreThanATenthOfTheBound) {
  Record base = test::passed("a"), next = test::passed("a");
  base.accuracy->err_over_bound = 0.5;
  next.accuracy->err_over_bound = 0.6;
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Same);
  next.accuracy->err_over_bound = 0.625;
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Drifted);
  EXPECT_EQ(judge_rows(base, next).reason, "error/bound is 0.625, and was 0.5 before");
  EXPECT_EQ(judge_rows(next, base).verdict, Verdict::Same) << "less is better";
  EXPECT_EQ(judge_rows(base, next, {.cross_device = true}).verdict, Verdict::Same);
}

TEST(Judge, LetsNoSpeedHideADrift) {
  Record base = test::measured("a", test::blocks(steady_times));
  Record next = test::measured("a", test::blocks(scaled(steady_times, 0.5)));
  base.accuracy = next.accuracy = *test::passed("a").accuracy;
  next.accuracy->err_over_bound = 0.9;
  const RowVerdict drifted = judge_rows(base, next);
  EXPECT_EQ(drifted.verdict, Verdict::Drifted);
  EXPECT_THAT(drifted.reason, HasSubstr("100.0 % faster"));
  next.perf = test::measured("a", test::blocks(scaled(steady_times, 2))).perf;
  EXPECT_EQ(judge_rows(base, next).verdict, Verdict::Slower) << "that one fails anyhow";
}

TEST(Judge, WritesDownEveryConditionThatItLookedAt) {
  std::vector<std::string> names;
  for (const Condition& condition : judge_blocks(steady_times, scaled(steady_times, 2)).conditions) {
    names.push_back(condition.name);
    EXPECT_NE(condition.finding, "");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"result", "same task", "status", "accuracy", "trust", "blocks",
                                             "separation", "effect", "clock", "same program"}));
}

TEST(Judge, SaysTheSameWhenItKeepsNoConditions) {
  const Record base = test::measured("a", test::blocks(steady_times));
  const Record next = test::measured("a", test::blocks(scaled(steady_times, 2)));
  const RowVerdict kept = judge_rows(base, next),
                   not_kept = judge_rows(base, next, {.keep_conditions = false});
  EXPECT_TRUE(not_kept.conditions.empty());
  EXPECT_EQ(not_kept.verdict, kept.verdict);
  EXPECT_EQ(not_kept.reason, kept.reason);
}

}  // namespace
}  // namespace assay
