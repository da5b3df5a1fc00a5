#include "harness/report/compare/compare.h"

#include "harness/report/compare/compare_text.h"
#include "harness/report/record/device_name.h"
#include "tests/support/error_text.h"
#include "tests/support/records.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using test::Behaviour;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

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
  robust.run.run_id = "robust";
  EXPECT_EQ(test::error_of([&] { compare_runs({plain}, {robust}); }),
            "comparing runs: run " + plain.run.run_id +
                " is plain, and run robust is with robust access (--robust-access); a run with robust access "
                "or with the limits of a profile (--as-if) is compared only with runs of its kind");
  EXPECT_THAT(test::error_of([&] {
                compare_runs({robust, plain}, {robust});
              }),
              HasSubstr("run robust is with robust access (--robust-access), and run "))
      << "on one side";
  EXPECT_EQ(compare_runs({robust}, {robust}).rows[0].verdict, Verdict::Same);
}

TEST(CompareRuns, RefusesTimesWithTheDefaultsOfATuningFileBesideOthersUnlessAllowed) {
  const RunReport plain =
      test::run_of({test::measured("a", test::blocks(steady)), test::measured("b", test::blocks(steady))});
  RunReport tuned = plain;
  tuned.records[1].info.tuned = "tile=64 (line 3)";
  const std::string refusal =
      "comparing runs: a row was timed with other defaults of a tuning file in some runs than in others, "
      "such "
      "as " +
      tuned.records[1].info.id;
  EXPECT_THAT(test::error_of([&] { compare_runs({plain}, {tuned}); }), HasSubstr(refusal));
  EXPECT_THAT(test::error_of([&] { compare_runs({tuned}, {plain}); }), HasSubstr(refusal));
  RunReport again = plain;
  again.run.run_id += "-again";
  EXPECT_THAT(test::error_of([&] {
                compare_runs({again, tuned}, {tuned});
              }),
              HasSubstr(refusal))
      << "on one side";
  EXPECT_EQ(compare_runs({plain}, {tuned}, {.allow_tuning = true}).rows.size(), 2U);
  RunReport other_file = tuned;
  other_file.records[1].info.tuned = "tile=64 (line 4)";
  EXPECT_EQ(compare_runs({tuned}, {other_file}).rows.size(), 2U) << "another line says the same";
  other_file.records[1].info.tuned = "tile=32 (line 3)";
  EXPECT_THAT(test::error_of([&] { compare_runs({tuned}, {other_file}); }), HasSubstr(refusal));
  RunReport by_case = plain;
  by_case.records[1].info.tune = "tile=64";
  EXPECT_EQ(compare_runs({tuned}, {by_case}).rows.size(), 2U) << "the case sets what the file sets";
  tuned.records[1].perf.reset();
  EXPECT_EQ(compare_runs({plain}, {tuned}).rows.size(), 2U) << "answers are compared";
}

TEST(CompareRuns, RefusesRunsWithAProfileBesideOthers) {
  const RunReport plain = test::run_of({test::measured("a", test::blocks(steady))});
  RunReport profiled = plain;
  profiled.run.device.as_if = "minimum";
  profiled.run.device.name += " as minimum";
  RunReport other = profiled;
  other.run.device.as_if = "phone";
  for (const auto& sides :
       {std::pair{plain, profiled}, std::pair{profiled, plain}, std::pair{profiled, other}}) {
    EXPECT_THAT(test::error_of([&] { compare_runs({sides.first}, {sides.second}); }),
                AllOf(HasSubstr(" is with the limits of minimum (--as-if)"),
                      HasSubstr(" is compared only with runs of its kind")));
  }
  EXPECT_EQ(compare_runs({profiled}, {profiled}).rows[0].verdict, Verdict::Same);
}

TEST(CompareRuns, ComparesTheAnswersOfARunWithTheValidationLayerButNotItsTimes) {
  const RunReport plain = test::run_of({test::measured("a", test::blocks(steady)), test::passed("b")});
  RunReport validated = test::run_of({test::measured("a", test::blocks(slow)), test::failed("b")});
  validated.run.run_id = "validated";
  validated.run.validation = true;
  const RunComparison comparison = compare_runs({plain}, {validated});
  EXPECT_EQ(comparison.rows[0].verdict, Verdict::Suspect);
  EXPECT_EQ(comparison.rows[1].verdict, Verdict::Broken);
  EXPECT_EQ(comparison.mean_of_all.rows, 0U);
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

TEST(CompareRuns, RefusesARunOnBothSides) {
  const auto refusal = [](const RunReport& base, const RunReport& next) {
    return test::error_of([&] { refuse_run_on_both_sides(pool_side({base}), pool_side({next})); });
  };
  const RunReport one = test::run_of({test::passed("a")}, "1"), two = test::run_of({test::passed("a")}, "2");
  EXPECT_THAT(refusal(one, one), HasSubstr("both sides are run 1 of Acme GPU 9, which cannot differ"));
  EXPECT_EQ(refusal(one, two), "");
  EXPECT_EQ(refusal(on_device(one, "A"), on_device(one, "B")), "") << "a run of several devices";
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

Record with_impl(Record record, const std::string& impl) {
  record.info.id = record.info.id.substr(0, record.info.id.rfind('/') + 1) + impl;
  record.info.impl = impl;
  return record;
}

RunComparison default_impls_of(const std::vector<Record>& before, const std::vector<Record>& now) {
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  return compare_runs(std::vector{base}, std::vector{next});
}

const RowVerdict& row_of_impl(const RunComparison& comparison, const std::string& impl,
                              const std::string& name) {
  for (const RowVerdict& row : comparison.rows) {
    if (row.info.impl == impl && row.info.id.find('/' + name + '/') != std::string::npos) return row;
  }
  throw std::runtime_error("no row of " + name + " with impl " + impl);
}

TEST(DefaultImplChanges, AreTheReasonOfGoneAndNew) {
  const Record stays = test::passed("stays"), moves = test::passed("moves");
  const RunComparison both =
      default_impls_of({stays, with_impl(moves, "tiled")}, {stays, with_impl(moves, "auto")});
  const RowVerdict& gone = row_of_impl(both, "tiled", "moves");
  const RowVerdict& fresh = row_of_impl(both, "auto", "moves");
  EXPECT_EQ(gone.verdict, Verdict::Gone);
  EXPECT_THAT(gone.reason, EndsWith("; a case without `impl:` ran tiled and now runs auto: " + fresh.info.id +
                                    " is the same case"));
  EXPECT_EQ(fresh.verdict, Verdict::New);
  EXPECT_THAT(fresh.reason, EndsWith("now runs auto: " + gone.info.id + " is the same case"));
}

TEST(DefaultImplChanges, AreNotSaidOfCasesThatNameTheirImpls) {
  const Record both = test::passed("both");
  const RunComparison comparison = default_impls_of({with_impl(both, "tiled"), with_impl(both, "gemv")},
                                                    {with_impl(both, "gemv"), with_impl(both, "auto")});
  EXPECT_THAT(row_of_impl(comparison, "tiled", "both").reason, Not(HasSubstr("without `impl:`")));
}

TEST(DefaultImplChanges, AreNotSaidOfAnotherImplThanAuto) {
  const Record stays = test::passed("stays"), moves = test::passed("moves");
  const RunComparison comparison =
      default_impls_of({stays, with_impl(moves, "tiled")}, {stays, with_impl(moves, "gemv")});
  EXPECT_THAT(row_of_impl(comparison, "tiled", "moves").reason, Not(HasSubstr("without `impl:`")));
  EXPECT_THAT(row_of_impl(comparison, "gemv", "moves").reason, Not(HasSubstr("without `impl:`")));
}

/// A comparison of runs in which `count` rows break; one row stays right.
RunComparison broken(int count) {
  std::vector<Record> before = {test::passed("right")}, now = before;
  for (int i = 0; i < count; ++i) {
    before.push_back(test::passed("b" + std::to_string(i)));
    now.push_back(test::failed("b" + std::to_string(i)));
    now.back().accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  }
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  return compare_runs(std::vector{base}, std::vector{next});
}

TEST(BrokenGroups, ReplaceManyRowsByThreeLines) {
  const RunComparison comparison = broken(168);
  const std::string text = compare_text(comparison, {});
  EXPECT_THAT(text,
              HasSubstr("\n  BROKEN  168 of 169 rows of shuffle: zero point\n"
                        "          such as shuffle/b0/1x16x4x8/4W4C.4W4C/fused\n"
                        "          as if zero_point were 0\n"
                        "      --all lists each row; `assay show NEW --group 'failure=FAIL zero point'` "
                        "those of the first kind\n"));
  EXPECT_THAT(text, Not(HasSubstr("shuffle/b1/")));
  EXPECT_THAT(text, HasSubstr("\n1 SAME, 168 BROKEN\n")) << "the totals count rows";
  EXPECT_THAT(compare_text(comparison, {.all = true}), HasSubstr("shuffle/b167/"));
}

TEST(BrokenGroups, AreInMarkdownToo) {
  const std::string text = compare_markdown(broken(168));
  EXPECT_THAT(text, HasSubstr("\n- BROKEN: 168 of 169 rows of shuffle: zero point, such as shuffle/b0/"));
  EXPECT_THAT(text, Not(HasSubstr("shuffle/b1/")));
  EXPECT_THAT(compare_markdown(broken(168), {.all = true}), HasSubstr("shuffle/b167/"));
}

TEST(BrokenGroups, LeaveAFewRowsAsTheyAre) {
  const RunComparison comparison = broken(3);
  EXPECT_TRUE(broken_groups(comparison).empty());
  EXPECT_THAT(compare_text(comparison, {}), HasSubstr("  BROKEN  shuffle/b2/"));
  EXPECT_EQ(broken_groups(broken(4)).size(), 1U);
}

TEST(BrokenGroups, HoldNoRowThatFailedBefore) {
  std::vector<Record> before, now;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "r" + std::to_string(i);
    before.push_back(i < 4 ? test::passed(name) : test::failed(name));
    now.push_back(test::failed(name));
  }
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  const std::vector<FailureGroup> groups = broken_groups(compare_runs(std::vector{base}, std::vector{next}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].rows.size(), 4U);
}

}  // namespace

}  // namespace assay
