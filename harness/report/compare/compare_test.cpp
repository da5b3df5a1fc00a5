#include "harness/report/compare/compare.h"

#include "harness/report/record/device_name.h"
#include "tests/support/error_text.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace assay {
namespace {

using test::Behaviour;
using ::testing::HasSubstr;

constexpr int row_count = 400;

RunReport simulated_run(const std::function<Behaviour(int row)>& behaviour, std::uint32_t stream) {
  test::Noise noise(stream);
  std::vector<Record> records;
  for (int row = 0; row < row_count; ++row) {
    records.push_back(test::measured("row" + std::to_string(row), test::simulate(behaviour(row), noise)));
  }
  return test::run_of(std::move(records), "run " + std::to_string(stream));
}

RunComparison simulated(const Behaviour& before, const Behaviour& now, std::uint32_t stream = 1) {
  const std::vector<RunReport> base = {simulated_run([&](int) { return before; }, 2 * stream)};
  const std::vector<RunReport> next = {simulated_run([&](int) { return now; }, 2 * stream + 1)};
  return compare_runs(base, next);
}

std::size_t count(const RunComparison& comparison, Verdict verdict) {
  return comparison.totals()[verdict];
}

TEST(SimulatedRuns, AreTheSameWhenTheDeviceIs) {
  const RunComparison comparison = simulated({}, {});
  EXPECT_EQ(count(comparison, Verdict::Same), static_cast<std::size_t>(row_count));
}

TEST(SimulatedRuns, RaiseNoMoreAlarmsThanExpectedHoweverNoisy) {
  std::size_t alarms = 0;
  double expected = 0;
  for (const double noise : {0.5, 2.0, 8.0}) {
    const Behaviour noisy{.blocks = 5, .block_pct = noise};
    const RunComparison comparison = simulated(noisy, noisy, 10 + static_cast<std::uint32_t>(noise));
    EXPECT_EQ(comparison.judged, static_cast<std::size_t>(row_count));
    alarms += count(comparison, Verdict::Slower) + count(comparison, Verdict::Faster);
    expected += comparison.expected_separations;
  }
  EXPECT_NEAR(expected, 3 * row_count * 2.0 / 252, 1e-9);
  EXPECT_LE(static_cast<double>(alarms), expected);
}

TEST(SimulatedRuns, FindASlowdownOfFivePercentInSteadyRows) {
  const RunComparison comparison = simulated({}, {.us = 105});
  std::size_t steady = 0, found = 0;
  for (const RowVerdict& row : comparison.rows) {
    if (row.base->spread_pct >= 1 || row.next->spread_pct >= 1) continue;
    ++steady;
    found += row.verdict == Verdict::Slower ? 1 : 0;
  }
  EXPECT_GT(steady, 300U);
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(steady));
}

TEST(SimulatedRuns, FindASpeedupAsReadily) {
  EXPECT_GE(count(simulated({}, {.us = 95}), Verdict::Faster), row_count * 95U / 100);
}

TEST(SimulatedRuns, ClaimNothingOfADifferenceInsideTheNoise) {
  const RunComparison comparison = simulated({.block_pct = 3}, {.us = 102, .block_pct = 3});
  EXPECT_LE(count(comparison, Verdict::Slower) + count(comparison, Verdict::Faster), 2U);
}

TEST(SimulatedRuns, TakeADriftForSpread) {
  const RunComparison comparison = simulated({.drift_pct = 4}, {.us = 102, .drift_pct = 4});
  EXPECT_EQ(count(comparison, Verdict::Slower), 0U);
  EXPECT_GT(count(simulated({.drift_pct = 4}, {.us = 110, .drift_pct = 4}), Verdict::Slower), 390U)
      << "ten percent stand out all the same";
}

TEST(SimulatedRuns, DoNotTakeThrottlingForASlowerProgram) {
  const RunComparison comparison = simulated({}, {.mode_pct = 30, .mode_share = 0.5});
  EXPECT_LE(count(comparison, Verdict::Slower), 15U) << "one in 64 has every block throttled";
  EXPECT_GT(count(comparison, Verdict::Same) + count(comparison, Verdict::Ambiguous), 380U);
}

TEST(SimulatedRuns, DoNotChooseBetweenTwoModes) {
  const Behaviour two_modes{.mode_pct = 20, .mode_share = 0.5};
  const RunComparison comparison = simulated(two_modes, two_modes);
  EXPECT_LE(count(comparison, Verdict::Slower) + count(comparison, Verdict::Faster), 3U);
}

TEST(SimulatedRuns, LearnFromSeveralRunsHowRunsDiffer) {
  // Each run as a whole is off by something that its own blocks do not show.
  const auto run = [](double offset, std::uint32_t stream) {
    return simulated_run([&](int) { return Behaviour{.us = 100 + offset}; }, stream);
  };
  const std::vector<RunReport> test_case = {run(0, 1)}, other = {run(2, 2)};
  EXPECT_EQ(compare_runs(test_case, other).totals()[Verdict::Slower], 0U) << "a run a side cannot know";
  EXPECT_GT(compare_runs(test_case, other, {.between_runs_pct = 0}).totals()[Verdict::Slower], 380U);
  const std::vector<RunReport> base = {run(0, 1), run(3, 2)}, next = {run(1.5, 3), run(4, 4)};
  EXPECT_EQ(compare_runs(base, next).totals()[Verdict::Slower], 0U);
}

// ---- matching

const std::vector<double> steady = {100, 100.1, 100.2, 100.3, 100.4};
const std::vector<double> slow = {110, 110.1, 110.2, 110.3, 110.4};

RunReport on_device(RunReport report, const std::string& name) {
  report.run.device.name = name;
  report.run.device.uuid = "uuid of " + name;
  return report;
}

TEST(CompareRuns, MatchesByIdModeAndCache) {
  Record cold = test::measured("a", test::blocks(slow));
  cold.info.cache = "cold";
  const std::vector<Record> records = {test::passed("a"), test::measured("a", test::blocks(steady)), cold};
  const std::vector<RunReport> runs = {test::run_of(records)};
  const RunComparison comparison = compare_runs(runs, runs);
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_EQ(comparison.totals()[Verdict::Same], 3U);
  EXPECT_EQ(comparison.rows[2].info.cache, "cold");
}

TEST(CompareRuns, HoldsAJournalThatKnowsNoCacheAgainstTheHotRow) {
  Record old = test::measured("a", test::blocks(steady));
  old.info.cache.clear();
  const std::vector<RunReport> base = {test::run_of({old})};
  const std::vector<RunReport> next = {test::run_of({test::measured("a", test::blocks(slow))})};
  EXPECT_EQ(compare_runs(base, next).totals()[Verdict::Slower], 1U);
}

TEST(CompareRuns, ComparesEveryDeviceWithItself) {
  const auto report = [](const std::vector<double>& us) {
    return test::run_of({test::measured("a", test::blocks(us))});
  };
  const std::vector<RunReport> base = {on_device(report(steady), "A"), on_device(report(slow), "B")};
  const std::vector<RunReport> next = {on_device(report(slow), "B"), on_device(report(slow), "A")};
  const RunComparison comparison = compare_runs(base, next);
  EXPECT_FALSE(comparison.cross_device);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].device, "A");
  EXPECT_EQ(comparison.rows[0].verdict, Verdict::Slower);
  EXPECT_EQ(comparison.rows[1].verdict, Verdict::Same);
}

TEST(CompareRuns, ComparesTwoDevicesWithoutAVerdictOfSpeed) {
  const std::vector<RunReport> base = {
      on_device(test::run_of({test::measured("a", test::blocks(steady)), test::passed("b")}), "A")};
  const std::vector<RunReport> next = {
      on_device(test::run_of({test::measured("a", test::blocks(slow)), test::failed("b")}), "B")};
  const RunComparison comparison = compare_runs(base, next);
  EXPECT_TRUE(comparison.cross_device);
  EXPECT_FALSE(comparison.rows[0].verdict.has_value());
  EXPECT_EQ(comparison.rows[1].verdict, Verdict::Broken);
  EXPECT_EQ(comparison.without_verdict(), 1U);
  EXPECT_EQ(comparison.judged, 0U);
}

TEST(CompareRuns, RefusesRobustRunsBesidePlainOnes) {
  RunReport plain = test::run_of({test::measured("a", test::blocks(steady))});
  RunReport robust = plain;
  robust.run.robust_access = true;
  EXPECT_THAT(test::error_of([&] { compare_runs({plain}, {robust}); }),
              HasSubstr(" checked every memory access of its kernels (--robust-access), and others did not"));
  EXPECT_EQ(compare_runs({robust}, {robust}).rows[0].verdict, Verdict::Same);
}

TEST(CompareRuns, KnowsASoftwareDeviceByItsProcessor) {
  RunReport old = test::run_of({test::measured("a", test::blocks(steady))});
  old.run.device.type = "cpu";
  old.run.device.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  RunReport updated = old;
  updated.run.device.name = "llvmpipe (LLVM 16.0.0, 256 bits)";
  updated.run.device.uuid = "of another driver";
  EXPECT_EQ(device_key(old.run), device_key(updated.run));
  updated.run.cpu = "another";
  EXPECT_NE(device_key(old.run), device_key(updated.run));
}

TEST(CompareRuns, KeepsTheOrderAndPutsNewRowsLast) {
  const std::vector<RunReport> base = {test::run_of({test::passed("z"), test::passed("b")})};
  const std::vector<RunReport> next = {test::run_of({test::passed("a"), test::passed("z")})};
  std::vector<std::pair<std::string, std::optional<Verdict>>> rows;
  for (const RowVerdict& row : compare_runs(base, next).rows) rows.emplace_back(row.info.name, row.verdict);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, std::optional<Verdict>>>{
                      {"z", Verdict::Same}, {"b", Verdict::Gone}, {"a", Verdict::New}}));
}

TEST(CompareRuns, RefusesSidesThatHaveNothingInCommon) {
  const std::vector<RunReport> base = {test::run_of({test::passed("a")})};
  const std::vector<RunReport> next = {test::run_of({test::passed("b"), test::passed("c")})};
  EXPECT_EQ(test::error_of([&] { compare_runs(base, next); }),
            "comparing runs: the two sides have no row in common (base: 1 rows on Acme GPU 9; new: 2 rows on "
            "Acme GPU 9); compare runs of the same case files");
}

TEST(CompareRuns, RefusesARunThatWouldCountTwice) {
  const std::vector<RunReport> once = {test::run_of({test::passed("a")})};
  const std::vector<RunReport> twice = {once[0], once[0]};
  EXPECT_THAT(test::error_of([&] { compare_runs(once, twice); }),
              HasSubstr("the new side has run run twice"));
}

TEST(CompareRuns, GivesGeometricMeansByOpAndImpl) {
  Record other = test::measured("c", test::blocks(steady));
  other.info.impl = "unfused";
  const std::vector<RunReport> base = {
      test::run_of({test::measured("a", test::blocks({10, 10, 10, 10, 10})),
                    test::measured("b", test::blocks({10, 10, 10, 10, 10})), other})};
  const std::vector<RunReport> next = {
      test::run_of({test::measured("a", test::blocks({5, 5, 5, 5, 5})),
                    test::measured("b", test::blocks({40, 40, 40, 40, 40})), other})};
  const std::vector<GeometricMean> means = compare_runs(base, next).means;
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].impl, "fused");
  EXPECT_NEAR(means[0].ratio, std::sqrt(2), 1e-12);
  EXPECT_EQ(means[0].rows, 2U);
  EXPECT_NEAR(means[0].peak_ratio, 1, 1e-12);
  EXPECT_EQ(means[1].rows, 1U);
  EXPECT_EQ(means[0].significant, 2U);
  EXPECT_EQ(means[1].significant, 0U);
}

TEST(CompareRuns, GivesTheMeanOfAllRowsToo) {
  Record other = test::measured("c", test::blocks({10, 10, 10, 10, 10}));
  other.info.impl = "unfused";
  Record slower = other;
  slower.perf = test::measured("c", test::blocks({40, 40, 40, 40, 40})).perf;
  const std::vector<RunReport> base = {test::run_of({test::measured("a", test::blocks(steady)), other})};
  const std::vector<RunReport> next = {test::run_of({test::measured("a", test::blocks(steady)), slower})};
  const GeometricMean mean = compare_runs(base, next).mean_of_all;
  EXPECT_NEAR(mean.ratio, 2, 1e-12);
  EXPECT_EQ(mean.rows, 2U);
  EXPECT_EQ(mean.significant, 1U);
}

}  // namespace
}  // namespace assay
