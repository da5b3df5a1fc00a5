#include "harness/commands/merge/merge.h"

#include "harness/base/error.h"
#include "harness/commands/merge/merged_shards.h"
#include "harness/report/record/rows_to_run.h"
#include "tests/support/records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace assay::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Runs of parts of a plan of four groups: a, b and c, d, e and f: names of their rows, by place.
const std::vector<std::vector<std::string>> plan{{"a"}, {"b", "c"}, {"d"}, {"e", "f"}};

RowInfo row_named(const std::string& name) {
  RowInfo info = test::sample_case(name);
  for (std::size_t group = 0; group < plan.size(); ++group) {
    for (const std::string& member : plan[group]) {
      if (member == name) info.group = fmt::format("group{}", group);
    }
  }
  return info;
}

struct Shards {
  /// A run of these groups; `end` is asked how each row ends: nothing of a row for which it has no end.
  ReportBuilder& add(int index, int count, const std::vector<std::size_t>& groups,
                     const std::function<void(RunInfo&)>& change = {}) {
    RunInfo run = test::sample_run();
    run.run_id = fmt::format("run{}", index);
    run.shard = {.index = index,
                 .count = count,
                 .all_groups = plan.size(),
                 .all_rows = 6,
                 .plan_hash = "plan",
                 .groups = number_ranges(groups)};
    if (change) change(run);
    ReportBuilder& journal = all.emplace_back(fmt::format("shard{}", index)).journal;
    journal.run(run);
    std::vector<RowInfo> rows;
    for (const std::size_t group : groups) {
      for (const std::string& name : plan[group]) rows.push_back(row_named(name));
    }
    journal.plan(rows);
    return journal;
  }
  /// The same, all of its rows PASS.
  ReportBuilder& add_passed(int index, int count, const std::vector<std::size_t>& groups,
                            const std::function<void(RunInfo&)>& change = {}) {
    ReportBuilder& journal = add(index, count, groups, change);
    for (RowIndex row = 0; row < journal.rows(); ++row) pass(journal, row);
    journal.done();
    return journal;
  }
  static void pass(ReportBuilder& journal, RowIndex row) {
    journal.begin(row);
    journal.judged(row, {.output = journal.info(row).name});
    journal.end(row, {.status = Status::Pass});
  }
  RunReport merged(const MissingGroups& missing = {}) const {
    const MergedShards shards(all);
    ReportBuilder builder;
    builder.run(shards.run("merged"));
    shards.tell(missing, builder);
    if (shards.is_complete(missing)) builder.done();
    return builder.report();
  }
  std::string refusal() const {
    try {
      const MergedShards shards(all);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return error.what();
    }
    return "";
  }

  ShardJournals all;
};

std::vector<std::string> names_of(const RunReport& report) {
  std::vector<std::string> names;
  for (const Record& record : report.records) names.push_back(record.info.name);
  return names;
}

TEST(MergedShards, AreTheRunThatWasDivided) {
  Shards shards;
  shards.add_passed(2, 2, {1, 3});  // in whatever order they are given
  shards.add_passed(1, 2, {0, 2});
  const RunReport report = shards.merged();
  EXPECT_THAT(names_of(report), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_TRUE(report.complete);
  for (const Record& record : report.records) {
    EXPECT_EQ(record.status, Status::Pass);
    EXPECT_EQ(record.accuracy->output, record.info.name) << "what a row told goes with it";
  }
  EXPECT_EQ(report.run.run_id, "merged");
  EXPECT_THAT(report.run.merged, ElementsAre("run1", "run2"));
  EXPECT_FALSE(report.run.shard.is_part());
}

TEST(MergedShards, NameTheSourceOfTheirEnergyIfOneOfThemHadOne) {
  const auto merged_energy = [](const std::string& first, const std::string& second) {
    Shards shards;
    shards.add_passed(1, 2, {0, 2}, [&](RunInfo& run) { run.energy = first; });
    shards.add_passed(2, 2, {1, 3}, [&](RunInfo& run) { run.energy = second; });
    return shards.merged().run.energy;
  };
  EXPECT_EQ(merged_energy("none: hwmon: gone", "RAPL package-0"), "RAPL package-0");
  EXPECT_EQ(merged_energy("RAPL package-0", "none: hwmon: gone"), "RAPL package-0");
  EXPECT_EQ(merged_energy("", "none: hwmon: gone"), "none: hwmon: gone");
  EXPECT_EQ(merged_energy("none: hwmon: gone", ""), "none: hwmon: gone") << "it had no timed row";
}

TEST(MergedShards, ARunOfAllRowsIsItsOwnOnlyShard) {
  Shards shards;
  shards.add_passed(0, 0, {0, 1, 2, 3}, [](RunInfo& run) { run.shard = {}; });
  EXPECT_THAT(names_of(shards.merged()), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST(MergedShards, RowsOfAShardThatWasKilledCanBeGoneOnWith) {
  Shards shards;
  shards.add_passed(1, 2, {0, 2});
  ReportBuilder& killed = shards.add(2, 2, {1, 3});
  Shards::pass(killed, 0);
  killed.begin(1);
  const RunReport report = shards.merged();
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.records.size(), 6U);
  EXPECT_EQ(report.records[1].status, Status::Pass);
  EXPECT_EQ(report.records[2].status, Status::Interrupted) << "c was running";
  EXPECT_EQ(report.records[2].reason, killed_while_running);
  EXPECT_EQ(report.records[4].status, Status::Missing);
  EXPECT_THAT(report.records[4].reason, HasSubstr("shard2"));
  EXPECT_EQ(report.records[3].status, Status::Pass);
}

TEST(MergedShards, RowsOfAShardThatIsNotThereAreMissing) {
  Shards shards;
  shards.add_passed(1, 3, {0, 2});
  shards.add_passed(3, 3, {3});
  const MergedShards merged(shards.all);
  EXPECT_THAT(merged.missing_groups(), ElementsAre(1));
  EXPECT_THAT(merged.missing_shards(), ElementsAre(2));
  const RunReport report = shards.merged({{1, {row_named("b"), row_named("c")}}});
  EXPECT_THAT(names_of(report), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(report.records[1].status, Status::Missing);
  EXPECT_EQ(report.records[2].status, Status::Missing);
  EXPECT_THAT(report.records[1].reason, HasSubstr("of 3 shards 2 is missing"));
  EXPECT_EQ(report.records[5].status, Status::Pass);
  EXPECT_FALSE(report.complete);
}

TEST(MergedShards, OfManyThatAreNotThereAFewAreNamed) {
  Shards shards;
  shards.add_passed(1, 400, {0, 1, 2});
  const RunReport report = shards.merged({{3, {row_named("e"), row_named("f")}}});
  EXPECT_THAT(report.records.back().reason,
              HasSubstr("of 400 shards 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 389 more are"));
}

TEST(MergedShards, AShardThatHadNothingToRunIsNotMissed) {
  Shards shards;
  shards.add_passed(1, 2, {0, 1, 2, 3});
  EXPECT_THAT(MergedShards(shards.all).missing_groups(), IsEmpty());
  EXPECT_TRUE(shards.merged().complete);
}

TEST(MergedShards, TakeCeilingsAndTimerOfTheFirstThatMeasuredThem) {
  const RunInfo measured = test::sample_run();
  Shards shards;
  shards.add_passed(2, 2, {1, 3}, [](RunInfo& run) { run.started_utc = "2026-01-01T00:00:00Z"; });
  shards.add_passed(1, 2, {0, 2}, [](RunInfo& run) {
    run.ceilings = {};
    run.timer = {};
  });
  const RunInfo run = MergedShards(shards.all).run("merged");
  EXPECT_EQ(run.ceilings.fp32_gops, measured.ceilings.fp32_gops);
  EXPECT_EQ(run.timer.unit_ns, measured.timer.unit_ns);
  EXPECT_EQ(run.started_utc, "2026-01-01T00:00:00Z") << "the first of them began then";
}

TEST(MergedShards, RefuseWhatIsOfAnotherRun) {
  const std::vector<std::pair<std::function<void(RunInfo&)>, std::string>> changes = {
      {[](RunInfo& run) { run.device.uuid = "other"; }, "they ran on the device Acme GPU 9 (0001"},
      {[](RunInfo& run) { run.device.driver_info = "13"; }, "their drivers are 12.3 and 13"},
      {[](RunInfo& run) { run.version = "0.2"; }, "they were made by assay 0.1.0+b1a8850ccc06 and 0.2"},
      {[](RunInfo& run) { run.inputs["cases"] = "2"; }, "the case files differ"},
      {[](RunInfo& run) { run.inputs["binary"] = "2"; }, "the binary differ"},
      {[](RunInfo& run) { run.inputs["tuning"] = "2"; },
       "one took a tuning file, the other did not (--tuning)"},
      {[](RunInfo& run) { run.seed = 1; }, "their seeds are"},
      {[](RunInfo& run) { run.secret_seed = 7; }, "one judged its timed rows on secret data"},
      {[](RunInfo& run) { run.shard.count = 4; }, "one is a part of 2 and one is a part of 4"},
      {[](RunInfo& run) { run.shard = {}; }, "one is a part of 2 and one has all rows"},
      {[](RunInfo& run) { run.shard.plan_hash = "other"; }, "they were chosen from other rows"},
  };
  for (const auto& [change, words] : changes) {
    const auto with_inputs = [change = change](RunInfo& run) {
      run.inputs = {{"cases", "1"}, {"binary", "1"}};
      if (change) change(run);
    };
    Shards shards;
    shards.add_passed(1, 2, {0, 2}, [](RunInfo& run) { run.inputs = {{"cases", "1"}, {"binary", "1"}}; });
    shards.add_passed(2, 2, {1, 3}, with_inputs);
    EXPECT_THAT(shards.refusal(), AllOf(HasSubstr("shard1 and shard2"), HasSubstr(words)));
  }
}

TEST(MergedShards, RefuseAGroupThatTwoHave) {
  Shards shards;
  shards.add_passed(1, 2, {0, 2});
  shards.add_passed(2, 2, {1, 2});
  EXPECT_THAT(shards.refusal(),
              AllOf(HasSubstr("shard1 and shard2 both have the rows of"), HasSubstr("/d/")));
}

// The list of the missing ones would take 8 GB.
TEST(MergedShards, RefuseAJournalThatNamesTwoThousandMillionShards) {
  Shards shards;
  shards.add_passed(1, 2'000'000'000, {0, 2});
  EXPECT_THAT(shards.refusal(), HasSubstr("there is no shard 1 of 2000000000; a run has at most 1000000"));
}

TEST(MergedShards, RefuseAJournalWhoseRowsAreNotThoseOfItsGroups) {
  Shards shards;
  shards.add_passed(1, 2, {0, 2}, [](RunInfo& run) { run.shard.groups = {{0, 3, 1}}; });
  EXPECT_THAT(shards.refusal(), HasSubstr("should have 4 groups of rows, but has 2"));
}

TEST(MixedOptions, AreThoseThatChangeWhatRowsSay) {
  RunOptions one;
  RunOptions other;
  other.out = "elsewhere";
  other.jobs = 3;
  other.cases.shard = "2/2";
  other.cases.balance = "report";
  other.ceilings = "measure";
  EXPECT_EQ(mixed_options(one, other), std::nullopt);
  other.rows.budget_s = 0.02;
  EXPECT_EQ(mixed_options(one, other), "their --budget is 1 and 0.02");
  EXPECT_EQ(mixed_options(other, one), "their --budget is 0.02 and 1");
  other.rows.measures_energy = true;
  other.validation = true;
  other.robust_access = true;
  one.ceilings = "none";
  one.rows.baseline_impl = "plain";
  one.rows.injected_slowdown_pct = 5;
  one.rows.program_limit_s = 2;
  EXPECT_EQ(
      mixed_options(one, other),
      "their --baseline-impl is plain and none, their --budget is 1 and 0.02, their --energy is off and "
      "on, their --program-limit is 2 and 10, their --ceilings is none and stored or measure, their "
      "--inject-slowdown is 5 and 0, their --validation is off and on, their --robust-access is off and on");
}

}  // namespace

}  // namespace assay::app
