#include "harness/report/compare/machine_shift.h"

#include "harness/report/compare/compare.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/record/device_name.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<double> machine_times = {100, 100.1, 100.2, 100.3, 100.4};

/// A row whose blocks take `times` as long as on an idle machine.
Record row_taking(double times, const std::string& name, const std::string& program) {
  std::vector<double> block_us = machine_times;
  for (double& us : block_us) us *= times;
  Record record = test::measured(name, test::blocks(block_us));
  record.perf->program_hash = program;
  return record;
}

struct Sides {
  RunReport base = test::run_of({}, "base"), next = test::run_of({}, "new");

  /// A row that takes that many times as long now.
  void add(double times, bool has_other_program = false) {
    const std::string name = "row" + std::to_string(base.records.size());
    base.records.push_back(row_taking(1, name, "p"));
    next.records.push_back(row_taking(times, name, has_other_program ? "q" : "p"));
  }
  RunComparison compared(const CompareOptions& options = {}) const {
    return compare_runs(std::vector{base}, std::vector{next}, options);
  }
};

Sides unchanged_rows(const std::vector<double>& times) {
  Sides sides;
  for (const double each : times) sides.add(each);
  return sides;
}

/// The two runs on a machine that other work slowed down: five programs are unchanged, two are not.
Sides busy_machine() {
  Sides sides = unchanged_rows({1.97, 1.99, 2.00, 2.02, 2.04});
  sides.add(2.27, true);
  sides.add(2.45, true);
  return sides;
}

const MachineShift& only_shift(const RunComparison& comparison) {
  EXPECT_EQ(comparison.machines.size(), 1U);
  return comparison.machines.front();
}

TEST(MachineShift, OfABusyMachineIsNotTheProgram) {
  const RunComparison comparison = busy_machine().compared();
  const MachineShift& shift = only_shift(comparison);
  EXPECT_EQ(shift.evidence, ShiftEvidence::Measured);
  EXPECT_EQ(shift.unchanged_rows, 5U);
  EXPECT_NEAR(shift.ratio, 2, 1e-9);
  EXPECT_NEAR(shift.low, 1.97, 1e-9);
  EXPECT_NEAR(shift.high, 2.04, 1e-9);
  EXPECT_TRUE(shift.is_finding());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(comparison.rows[i].verdict, Verdict::Environment);
    EXPECT_EQ(comparison.rows[i].net_ratio, 0) << "it is the estimate itself";
  }
  const RowVerdict &small = comparison.rows[5], &large = comparison.rows[6];
  EXPECT_NEAR(small.ratio, 2.27, 1e-9) << "the times as measured stay";
  EXPECT_NEAR(small.net_ratio, 1.135, 1e-9);
  EXPECT_NEAR(large.net_ratio, 1.225, 1e-9);
  EXPECT_NEAR(small.effect_pct, 13.5, 1e-6);
  for (const RowVerdict* row : {&small, &large}) {
    EXPECT_EQ(row->verdict, Verdict::Slower);
    EXPECT_GT(row->net_high / row->net_ratio, 1.02) << "at least as wide as the unchanged rows' own";
    EXPECT_LT(row->net_high / row->net_ratio, 1.03);
    EXPECT_NEAR(row->net_ratio / row->net_low, row->net_high / row->net_ratio, 1e-9);
  }
  EXPECT_THAT(
      small.reason,
      HasSubstr("2.27x slower: 13.5 % slower (1.11x to 1.16x) apart from the machine, which was 2.00x "
                "slower: all blocks now (113.5 to 113.95 us apart from the machine) are above all"));
}

TEST(MachineShift, NeedsMoreThanUnchangedRowsDifferBy) {
  Sides sides = busy_machine();
  sides.add(2.07, true);  // 3.5 %: 3 % is the noise between runs, 2 % how far unchanged rows are off
  sides.add(2.08, true);
  const RunComparison comparison = sides.compared();
  EXPECT_NEAR(comparison.rows[7].needed_pct, std::hypot(3, 2), 0.01);
  EXPECT_EQ(comparison.rows[7].verdict, Verdict::Ambiguous);
  EXPECT_EQ(comparison.rows[8].verdict, Verdict::Slower);
}

TEST(MachineShift, MakesNoSpeedupOfAProgramThatIsAsFastAsBefore) {
  Sides sides = unchanged_rows({0.5, 0.5, 0.502, 0.5, 0.498});
  sides.add(0.5, true);
  sides.add(0.6, true);
  const RunComparison comparison = sides.compared();
  EXPECT_EQ(comparison.rows[5].verdict, Verdict::Same);
  EXPECT_EQ(comparison.rows[6].verdict, Verdict::Slower) << "although it takes less time than before";
  EXPECT_THAT(shift_text(only_shift(comparison)),
              StartsWith("the machine was 2.00x faster: 5 unchanged rows (1.99x"));
}

TEST(MachineShift, IsNotSeenInNoiseAndThenChangesNothing) {
  Sides sides = unchanged_rows({1.001, 0.998, 1.004, 1.028, 0.99, 1.002});
  sides.add(1.05, true);
  sides.add(1.02, true);
  const RunComparison with = sides.compared();
  EXPECT_EQ(only_shift(with).evidence, ShiftEvidence::None);
  EXPECT_EQ(only_shift(with).unchanged_rows, 6U);
  for (std::size_t i : {6, 7}) {
    const auto side = [&](const RunReport& run) { return pool_runs({&run.run}, {&run.records[i]}); };
    const RowVerdict alone = row_verdict(side(sides.base), side(sides.next), {});
    EXPECT_EQ(with.rows[i].verdict, alone.verdict);
    EXPECT_EQ(with.rows[i].reason, alone.reason);
    EXPECT_EQ(with.rows[i].needed_pct, alone.needed_pct);
  }
  EXPECT_EQ(machines_text(with), "");
  EXPECT_THAT(compare_text(with, {}), StartsWith("base "));
  EXPECT_THAT(compare_text(with, {}), Not(HasSubstr("without shift")));
  EXPECT_THAT(compare_markdown(with), Not(HasSubstr("without shift")));
}

TEST(MachineShift, OfWhatRunsDifferByAnywayDoesNotCount) {
  EXPECT_EQ(only_shift(unchanged_rows({1.029, 1.029, 1.029, 1.029, 1.029}).compared()).evidence,
            ShiftEvidence::None);
  EXPECT_EQ(only_shift(unchanged_rows({1.031, 1.031, 1.031, 1.031, 1.031}).compared()).evidence,
            ShiftEvidence::Measured);
}

TEST(MachineShift, IsNotClearIfUnchangedRowsDisagree) {
  EXPECT_EQ(only_shift(unchanged_rows({0.99, 1.2, 1.3, 1.3, 1.3}).compared()).evidence, ShiftEvidence::None)
      << "of five rows, one did not become slower";
}

TEST(MachineShift, WithOneRowThatScattersHidesNoChange) {
  Sides sides = unchanged_rows({1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.60});
  sides.add(1.5, true);
  const RunComparison comparison = sides.compared();
  EXPECT_LT(only_shift(comparison).width_pct(), 1);
  EXPECT_EQ(comparison.rows.back().verdict, Verdict::Slower);
}

TEST(MachineShift, TakesNoClockThatIsInfinite) {
  Sides sides = unchanged_rows({1.1, 1.1, 1.1, 1.1, 1.1});
  for (RunReport* side : {&sides.base, &sides.next})
    side->records[0].perf->clock_ratio = std::numeric_limits<double>::infinity();
  EXPECT_EQ(only_shift(sides.compared()).clock_ratio, 1);
}

TEST(MachineShift, IsTheMedianHoweverFarOffSingleRowsAre) {
  std::vector<double> times(100, 1.1);
  times[3] = times[50] = 40;
  times[70] = 0.01;
  const RunComparison comparison = unchanged_rows(times).compared();
  const MachineShift& shift = only_shift(comparison);
  EXPECT_NEAR(shift.ratio, 1.1, 1e-9);
  EXPECT_NEAR(shift.width_pct(), 0, 1e-9) << "of the middle 95 %";
}

TEST(MachineShift, TakesOnlyRowsThatCanBeTrusted) {
  Sides sides = unchanged_rows({2, 2, 2, 2, 2});
  const auto rows = [&] { return only_shift(sides.compared()).unchanged_rows; };
  EXPECT_EQ(rows(), 5U);
  sides.next.records[0].perf->suspect = "too fast";
  EXPECT_EQ(rows(), 4U);
  sides.next.records[1].perf->program_hash.clear();
  sides.base.records[1].perf->program_hash.clear();
  EXPECT_EQ(rows(), 3U) << "an unknown program may be another one";
  sides.next.records[2].status = Status::Fail;
  EXPECT_EQ(rows(), 2U);
  sides.next.records[3].info.seed = 8;
  EXPECT_EQ(rows(), 1U);
  sides.next.run.device.driver_info = "12.4";
  EXPECT_EQ(rows(), 0U);
}

TEST(MachineShift, IsSaidButNotTakenOutIfSameProgramsAreJudged) {
  const RunComparison comparison = busy_machine().compared({.judge_same_programs = true});
  EXPECT_EQ(comparison.rows[0].verdict, Verdict::Slower);
  EXPECT_EQ(comparison.rows[5].machine_ratio, 0);
  EXPECT_EQ(
      machines_text(comparison),
      "The machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x); times are judged as measured, as "
      "asked\n");
}

TEST(MachineShift, IsNoRunNoise) {
  const std::vector<RunPair> pairs = run_pairs_of(busy_machine().compared());
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].rows, 5U);
  EXPECT_NEAR(pairs[0].largest_pct, 2, 0.01) << "the largest distance of a row from the shift";
}

TEST(MachineShift, LeavesToTheClockProbeWhatIsMoreThanTheShift) {
  Sides sides = busy_machine();
  for (Record& record : sides.next.records) record.perf->clock_ratio = 0.995 / 2;
  EXPECT_EQ(sides.compared().rows[6].verdict, Verdict::Slower) << "the clock is the machine's shift";
  sides.next.records[6].perf->clock_ratio = 0.995 / 2.4;
  EXPECT_EQ(sides.compared().rows[6].verdict, Verdict::Environment);
}

// ---- without unchanged rows

Sides new_driver() {
  Sides sides;
  for (const double times : {1.0, 1.2, 0.8}) sides.add(times, true);
  sides.next.run.device.driver_info = "12.4";
  return sides;
}

TEST(MachineShift, IsSuspectedIfACeilingMoved) {
  Sides sides = new_driver();
  sides.next.run.ceilings.fp32_gops = 45000;
  const RunComparison comparison = sides.compared();
  EXPECT_EQ(only_shift(comparison).evidence, ShiftEvidence::Suspected);
  EXPECT_NEAR(only_shift(comparison).ratio, 1 / 0.9, 1e-9);
  EXPECT_TRUE(only_shift(comparison).is_finding());
  for (const RowVerdict& row : comparison.rows) {
    EXPECT_EQ(row.verdict, Verdict::Ambiguous) << "also the one that seems the same";
    EXPECT_EQ(row.net_ratio, 0) << "a ceiling says too little to correct a time by it";
    EXPECT_THAT(row.reason,
                HasSubstr("the machine may have been 1.11x slower: no unchanged rows, but ceiling "
                          "fp32 50000 GOP/s -> 45000 GOP/s (-10.0 %)"));
  }
  EXPECT_THAT(compare_text(comparison, {}),
              StartsWith("The machine may have been 1.11x slower: no unchanged rows, but ceiling fp32"));
}

TEST(MachineShift, IsNotSuspectedIfCeilingsAreAsTheyWere) {
  Sides sides = new_driver();
  sides.next.run.ceilings.fp32_gops = 51400;  // 2.7 %
  sides.next.run.ceilings.dispatch_us = 4;    // no ceiling
  sides.next.run.ceilings.fp16_gops = 0;      // not measured
  const RunComparison comparison = sides.compared();
  EXPECT_EQ(only_shift(comparison).evidence, ShiftEvidence::None);
  EXPECT_EQ(comparison.rows[0].verdict, Verdict::Same);
  EXPECT_EQ(comparison.rows[1].verdict, Verdict::Slower);
  EXPECT_EQ(comparison.rows[2].verdict, Verdict::Faster);
}

TEST(MachineShift, IsNotSuspectedIfOtherKernelsMeasuredTheCeilings) {
  Sides sides = new_driver();
  sides.next.run.ceilings.fp32_gops = 45000;
  sides.next.run.ceilings.kernels = "others";
  EXPECT_EQ(only_shift(sides.compared()).evidence, ShiftEvidence::None);
}

TEST(MachineShift, IsSuspectedIfTheClockOfSeveralRowsMoved) {
  const auto with_clock = [](std::size_t rows, double clock_ratio) {
    Sides sides;
    for (std::size_t i = 0; i < rows; ++i) sides.add(1, true);
    for (Record& record : sides.next.records) record.perf->clock_ratio = clock_ratio;
    return only_shift(sides.compared());
  };
  EXPECT_EQ(with_clock(5, 0.96).evidence, ShiftEvidence::Suspected);
  EXPECT_FALSE(with_clock(5, 0.96).is_finding());
  EXPECT_THAT(shift_text(with_clock(5, 0.96)),
              HasSubstr("clock probe 0.995 of full -> 0.960 of full (-3.5 %)"));
  EXPECT_EQ(with_clock(5, 0.97).evidence, ShiftEvidence::None);
  EXPECT_EQ(with_clock(4, 0.96).evidence, ShiftEvidence::None)
      << "a few programs may draw more power than they did";
}

TEST(MachineShift, TellsHowManyRowsAreMissing) {
  Sides sides = unchanged_rows({2, 2, 2, 2});
  sides.add(2.2, true);
  EXPECT_EQ(only_shift(sides.compared()).evidence, ShiftEvidence::None) << "ceilings are as they were";
  sides.next.run.ceilings.bandwidth.back().copy_gbps = 250;
  const RunComparison comparison = sides.compared();
  EXPECT_EQ(comparison.rows[0].verdict, Verdict::Environment);
  EXPECT_EQ(comparison.rows[4].verdict, Verdict::Ambiguous);
  EXPECT_THAT(
      machines_text(comparison),
      StartsWith("The machine may have been 2.00x slower: 4 unchanged rows of the 5 that are needed, but "
                 "ceiling bandwidth 500 GB/s -> 250 GB/s (-50.0 %)"));
}

// ---- several devices, several runs

TEST(MachineShift, IsOfOneDevice) {
  Sides slow = busy_machine(), steady = unchanged_rows({1, 1, 1, 1, 1});
  steady.add(1.2, true);
  for (RunReport* report : {&steady.base, &steady.next}) {
    report->run.device.name = "Other GPU";
    report->run.device.uuid = "another";
  }
  const RunComparison comparison = compare_runs({slow.base, steady.base}, {slow.next, steady.next});
  ASSERT_EQ(comparison.machines.size(), 2U);
  EXPECT_EQ(machines_text(comparison),
            "Acme GPU 9: the machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x); rows of other "
            "programs are judged against that\n");
  EXPECT_NEAR(comparison.rows[5].net_ratio, 1.135, 1e-9);
  EXPECT_EQ(comparison.rows.back().net_ratio, 0);
}

TEST(MachineShift, IsUnknownBetweenTwoDevices) {
  Sides sides = busy_machine();
  sides.next.run.device.uuid = "another";
  EXPECT_TRUE(sides.compared().machines.empty());
}

TEST(MachineShift, OfSeveralRunsCountsFromOnePercentOn) {
  const auto shift = [](double times) {
    const Sides sides = unchanged_rows(std::vector<double>(5, times));
    RunReport base = sides.base, next = sides.next;
    base.run.run_id = "base 2";
    next.run.run_id = "new 2";
    return only_shift(compare_runs({sides.base, base}, {sides.next, next})).evidence;
  };
  EXPECT_EQ(shift(1.009), ShiftEvidence::None);
  EXPECT_EQ(shift(1.02), ShiftEvidence::Measured);
}

// ---- every output says it

TEST(MachineShift, IsInEveryOutput) {
  const RunComparison comparison = busy_machine().compared({});
  const std::string first =
      "The machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x); rows of other "
      "programs are judged against that\n";
  const std::string text = compare_text(comparison, {});
  EXPECT_THAT(text, StartsWith(first));
  EXPECT_THAT(text, HasSubstr("2.27x  1.14x (1.11 .. 1.16)   3.6 %"));
  EXPECT_THAT(text, HasSubstr("the machine's shift is in them"));
  EXPECT_THAT(compare_markdown(comparison), StartsWith("- " + first));
  EXPECT_THAT(compare_markdown(comparison), HasSubstr("1.14x (1.11 .. 1.16)"));
  EXPECT_THAT(compare_csv(comparison), HasSubstr(",2.27,2,1.135,1.11"));
  const auto json = nlohmann::json::parse(compare_json(comparison));
  const auto& machine = json.at("machines").at(0);
  EXPECT_EQ(machine.at("shift"), "measured");
  EXPECT_EQ(machine.at("unchanged_rows"), 5);
  EXPECT_NEAR(machine.at("ratio"), 2, 1e-9);
  EXPECT_EQ(machine.at("finding"), true);
  EXPECT_EQ(machine.at("text"), "the machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x)");
  EXPECT_NEAR(json.at("rows").at(5).at("net_ratio"), 1.135, 1e-9);
  EXPECT_FALSE(json.at("rows").at(0).contains("net_ratio"));
  EXPECT_THAT(explain(comparison.rows[5], false),
              HasSubstr("without that the row is 1.14x slower (1.11x to 1.16x)"));
}

}  // namespace
}  // namespace assay
