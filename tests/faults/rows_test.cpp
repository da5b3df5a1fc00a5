#include "harness/engine/accuracy/replay.h"
#include "harness/report/journal/report_builder.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace assay::faults {

// Runs of some rows of a plan, and rows that go on where an earlier try ended.

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two correct impls, and one that is wrong.
struct Group {
  Op op = matmul();

  Group() { op.impls.push_back({.name = "again", .build = op.find_impl("correct")->build}); }
  Case row(const std::string& impl) const { return fault_case(op, impl, matmul_params(4, 33, 9)); }
  std::vector<Case> both() const { return {row("correct"), row("again")}; }
};

/// So many blocks of one sample, of one program that takes so long, of a row whose outputs had this hash.
RowProgress progress(const std::string& output_hash, int blocks, double program_ns = 1000) {
  RowProgress made{.output_hash = output_hash};
  for (int round = 0; round < blocks; ++round)
    made.blocks.push_back({.round = round, .batch = 1, .samples_ns = {program_ns}});
  return made;
}

std::string hash_of(const Case& test_case) {
  return Bench::shared().run(test_case).accuracy.value().output_hash;
}

Heard run(const std::vector<Case>& cases, const RowsLeft& left, DeviceRunOptions options = {}) {
  options.mode = Mode::Perf;
  return Bench::shared().run(cases, options, {}, left);
}

std::vector<int> rounds_of(const Heard& heard, const std::string& id) {
  std::vector<int> rounds;
  for (std::size_t i = 0; i < heard.blocks.size(); ++i) {
    if (heard.blocks[i] == id) rounds.push_back(heard.rounds[i]);
  }
  return rounds;
}

TEST(RowsLeft, OnlyWantedRowsAreToldOf) {
  const Group group;
  Case other = fault_case(group.op, "correct", matmul_params(5, 33, 9));
  other.id = "matmul/other/correct";
  const std::vector<Case> cases = {group.row("correct"), group.row("again"), other};
  const Heard heard = Bench::shared().run(
      cases, {}, {}, {.wanted = {false, true, false, false, true, false}});  // accuracy rows of a group first
  std::vector<std::string> ended;
  for (const Record& record : heard.records) ended.push_back(record.info.id + " " + record.info.mode);
  EXPECT_THAT(ended, ElementsAre("matmul/fault/again accu", "matmul/other/correct accu"));
  EXPECT_THAT(heard.blocks, IsEmpty());
}

TEST(RowsLeft, AGroupOfNoWantedRowMakesNoData) {
  Op op = matmul();
  int asked = 0;
  op.reference = [&, reference = op.reference](const Params& params, std::span<const HostTensor> inputs) {
    ++asked;
    return reference(params, inputs);
  };
  const std::vector<Case> cases = {fault_case(op, "correct", matmul_params(4, 33, 9))};
  Bench::shared().run(cases, {.mode = Mode::Accu}, {}, {.wanted = {false}});
  EXPECT_EQ(asked, 0);
  Bench::shared().run(cases, {.mode = Mode::Accu}, {}, {.wanted = {true}});
  EXPECT_EQ(asked, 1);
}

TEST(RowsLeft, ARowThatWasStoppedIsNotToldOfEitherWhereItIsNotWanted) {
  const Group group;
  DeviceRunOptions options;
  options.stop_requested = [] { return true; };
  const Heard heard = run(group.both(), {.wanted = {false, true}}, options);
  ASSERT_EQ(heard.records.size(), 1U);
  EXPECT_EQ(heard.records[0].info.impl, "again");
  EXPECT_EQ(heard.records[0].status, Status::Missing);
}

TEST(ResumedRow, OfTheSameOutputsTakesTheBlocksThatItLacks) {
  const Group group;
  const Case row = group.row("correct");
  const Heard heard = run({row}, {.progress = {{0, progress(hash_of(row), 3)}}});
  ASSERT_EQ(heard.records.at(0).status, Status::Pass) << heard.records[0].reason;
  const std::vector<int> rounds = rounds_of(heard, row.id);
  ASSERT_GE(rounds.size(), 2U);
  EXPECT_EQ(rounds.front(), 3);
  EXPECT_THAT(heard.batches, Each(1)) << "as before";
  EXPECT_TRUE(heard.records[0].accuracy.has_value()) << "it was judged again";
}

TEST(ResumedRow, WhoseBlocksSufficeStillMakesItsSidePasses) {
  const Group group;
  const Case row = group.row("correct");
  const Heard heard = run({row}, {.progress = {{0, progress(hash_of(row), 5)}}});
  EXPECT_THAT(heard.blocks, IsEmpty());
  ASSERT_TRUE(heard.ends.at(0).perf) << heard.records[0].reason;
  const PerfResult& perf = *heard.ends[0].perf;
  EXPECT_EQ(perf.time_us_p50, 1) << "of the blocks before";
  EXPECT_EQ(perf.blocks, 5);
  EXPECT_EQ(perf.stop, "interval");
  EXPECT_GT(perf.throughput_us, 0);
  EXPECT_TRUE(perf.verified);
}

TEST(ResumedRow, OfOtherOutputsIsTimedAnew) {
  const Group group;
  const Case row = group.row("correct");
  const Heard heard = run({row}, {.progress = {{0, progress("of another answer", 5)}}});
  EXPECT_EQ(rounds_of(heard, row.id).at(0), 0);
  EXPECT_EQ(heard.ends.at(0).perf.value().blocks, static_cast<int>(heard.blocks.size()));
}

TEST(ResumedRow, IsComparedInRoundsThatItsBaselineTakesPartIn) {
  const Group group;
  const std::vector<Case> cases = group.both();
  const std::string hash = hash_of(cases[0]);
  const RowsLeft left{.progress = {{0, progress(hash, 2)}, {1, progress(hash, 1)}}};
  const Heard heard = run(cases, left, {.rows = {.baseline_impl = "correct"}});
  const std::vector<int> rounds = rounds_of(heard, cases[1].id);
  EXPECT_EQ(rounds.at(0), 2);
  EXPECT_EQ(rounds, rounds_of(heard, cases[0].id));
}

TEST(ResumedRow, WhoseBaselineHasEndedSharesNoRoundWithIt) {
  const Group group;
  const std::vector<Case> cases = group.both();
  const RowsLeft left{.wanted = {false, true}, .progress = {{0, progress(hash_of(cases[0]), 6)}}};
  EXPECT_EQ(rounds_of(run(cases, left, {.rows = {.baseline_impl = "correct"}}), cases[1].id).at(0), 6);
  EXPECT_EQ(rounds_of(run(cases, left), cases[1].id).at(0), 0) << "nobody compares them";
}

/// The state, in a builder, of the rows that still have to run.
RowsLeft rows_to_run_of(const ReportBuilder& told) {
  RowsLeft left;
  for (RowIndex row = 0; row < told.rows(); ++row) {
    const RowEvents& events = told.events(row);
    left.wanted.push_back(!events.end || goes_on_after(events.end->status));
    if (events.judged) left.progress[row] = {events.judged->output_hash, events.blocks};
  }
  return left;
}

TEST(ResumedRun, EndsAsOneThatWasNeverStopped) {
  const Group group;
  const std::vector<Case> cases = group.both();
  const Case* pointers[] = {&cases[0], &cases[1]};
  const std::vector<PlannedGroup> groups = plan_rows(pointers, Mode::Perf);
  ReportBuilder builder;
  DeviceRunOptions options{.rows = {.baseline_impl = "correct"}, .mode = Mode::Perf};
  options.sampling.budget_s = 0.02;
  builder.plan(plan_of(groups, options.names, options.rows.baseline_impl));
  const auto run = [&](int blocks) {  // until so many were taken
    const auto told = [&] { return builder.events(0).blocks.size() + builder.events(1).blocks.size(); };
    options.stop_requested = [&, most = told() + blocks] { return told() >= most; };
    EXPECT_EQ(run_on_device(Bench::shared().device(), Bench::shared().shaders(), groups,
                            rows_to_run_of(builder), {}, options, builder),
              "");
  };
  run(3);
  const auto statuses = [&] { return std::set{builder.record(0).status, builder.record(1).status}; };
  EXPECT_THAT(statuses(), ElementsAre(Status::Missing, Status::Interrupted)) << "one lacks its second block";
  run(1);
  run(1000);
  EXPECT_THAT(statuses(), ElementsAre(Status::Pass));
  const RunReport report = builder.report();
  const Comparison made = report.records[1].comparison.value();
  EXPECT_EQ(made.note, "");
  EXPECT_GE(made.blocks, 4);
  EXPECT_GT(report.records[0].perf.value().blocks + report.records[1].perf.value().blocks, 2 * made.blocks)
      << "a round that one had alone is no pair";
  for (RowIndex row = 0; row < 2; ++row) {
    EXPECT_EQ(report.records[row].perf.value().blocks, static_cast<int>(builder.events(row).blocks.size()));
    int next = 0;
    for (const Block& block : builder.events(row).blocks) {
      EXPECT_EQ(block.round, next + block.skipped);
      next = block.round + 1;
    }
  }
}

/// Six groups of one timed row.
std::vector<Case> six_groups(const Op& op) {
  std::vector<Case> cases;
  for (int k = 30; k < 36; ++k) {
    cases.push_back(fault_case(op, "correct", matmul_params(4, k, 9)));
    cases.back().id += std::to_string(k);
  }
  return cases;
}

TEST(TimingPool, IsTimedWhenThatTakesLongEnoughBetweenGroups) {
  const Group group;
  int before = 0, after = 0;
  DeviceRunOptions options;
  options.before_timing = [&] { EXPECT_EQ(before++, after); };
  options.after_timing = [&] { EXPECT_EQ(++after, before); };
  run(six_groups(group.op), {}, options);
  EXPECT_EQ(before, 1) << "they take less than a minute";
  EXPECT_EQ(after, 1);
  before = after = 0;
  options.pool_s = 0;
  run(six_groups(group.op), {}, options);
  EXPECT_EQ(before, 6);
  EXPECT_EQ(after, 6);
}

TEST(TimingPool, NeverDividesAGroup) {
  const Group group;
  int pools = 0;
  DeviceRunOptions options{.rows = {.baseline_impl = "correct"}};
  options.pool_s = 0;
  options.before_timing = [&] { ++pools; };
  const Heard heard = run(group.both(), {}, options);
  EXPECT_EQ(pools, 1);
  EXPECT_GE(heard.records.back().comparison.value().blocks, 5);
}

TEST(TimingPool, WithoutATimedRowTakesNoTurn) {
  const Group group;
  DeviceRunOptions options;
  options.before_timing = [] { FAIL() << "there is nothing to time"; };
  run({group.row("last_k_dropped")}, {}, options);
}

// Rows that are prepared ahead end as rows that are not, in the same order and whatever is wrong with them.

/// Cases of two ops and several shapes: some are right, some do not compile, some no device can run. Rows of
/// one shape share their data.
struct MixedCases {
  MixedCases() {
    for (const std::int64_t m : {1, 2, 3, 4, 5}) {
      const Params params = matmul_params(m, 33, 9);
      for (const char* impl : {"correct", "does_not_compile", "oversized_workgroup", "oversized_scratch"})
        add(product, impl, params);
      for (const char* impl : {"constant_not_pushed", "binding_nine", "huge_shared_memory"})
        add(asking, impl, params);
    }
  }

  void add(const Op& op, const std::string& impl, const Params& params) {
    cases.push_back(fault_case(op, impl, params));
    cases.back().id += fmt::format("/{}", cases.size());
  }

  Op product = matmul();
  Op asking = asking_matmul();
  std::vector<Case> cases;
};

std::vector<std::string> told_with(int threads) {
  const MixedCases mixed;
  DeviceRunOptions options;
  options.mode = Mode::Accu;
  options.preparing_threads = threads;
  const Heard heard = Bench::shared().run(mixed.cases, options);
  std::vector<std::string> lines;
  for (const Record& record : heard.records) {
    lines.push_back(fmt::format("{} {} {} {}", record.info.id, name_of(record.status), record.reason,
                                record.accuracy ? record.accuracy->output_hash : ""));
  }
  return lines;
}

TEST(PreparedRows, EndAsOthersDo) {
  const std::vector<std::string> prepared = told_with(3);
  EXPECT_EQ(prepared, told_with(0));
  EXPECT_EQ(prepared.size(), MixedCases().cases.size());
}

TEST(PreparedRows, AreTimedWithSecretData) {
  Op op = matmul();
  std::vector<Case> cases;
  for (const std::int64_t m : {1, 2, 3}) cases.push_back(fault_case(op, "correct", matmul_params(m, 33, 9)));
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].id += fmt::format("/{}", i);
  DeviceRunOptions options;
  options.preparing_threads = 2;
  options.secret_seed = 5;
  const Heard heard = Bench::shared().run(cases, options);
  EXPECT_EQ(heard.records.size(), 6U);
  for (const Record& record : heard.records) {
    EXPECT_THAT(record.status, ::testing::AnyOf(Status::Pass, Status::Suspect)) << record.reason;
  }
}

// Rows that are run again and again (--replay).

using ::testing::ContainsRegex;
using ::testing::StartsWith;

Record replayed(const Case& test_case, int runs, const std::function<bool()>& stop = {}) {
  DeviceRunOptions options;
  options.rows.replays = runs;
  options.stop_requested = stop;
  return Bench::shared().run({test_case}, options).records.at(0);
}

Case replayed_quantize(const std::string& impl) {
  static const Op op = quantize();
  return fault_case(op, impl, quantize_params({2, 5, 3, 7}));
}

Case replayed_matmul(const std::string& impl) {
  static const Op op = matmul();
  return fault_case(op, impl, matmul_params(5, 67, 13));
}

TEST(Replay, OfARightProgramGivesOneAnswer) {
  const Record record = replayed(replayed_quantize("correct"), 7);
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  const Replay& replay = record.accuracy->replay.value();
  EXPECT_EQ(replay.runs, 7);
  EXPECT_EQ(replay.hot_runs, 4);
  EXPECT_EQ(replay.wrong, 0);
  ASSERT_EQ(replay.answers.size(), 1U);
  EXPECT_EQ(replay.answers[0].runs, 7);
  EXPECT_EQ(replay.answers[0].hash, record.accuracy->output_hash);
}

TEST(Replay, OfAWrongProgramCountsItsWrongRuns) {
  const Record record = replayed(replayed_quantize("write_past_end"), 4);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->replay->wrong, 4) << "the answer is right, but guards were overwritten";
  EXPECT_EQ(record.accuracy->replay->hot_wrong, 2);
  EXPECT_THAT(record.reason, ContainsRegex("; run again, wrong in 4 of 4 runs .*: 2 of 2 on a busy device"));
}

TEST(Replay, ShowsAnswersThatDifferFromRunToRun) {
  if (!Bench::shared().is_lavapipe())
    GTEST_SKIP() << "only lavapipe is known to keep shared memory between runs";
  const Record record = replayed(replayed_matmul("uninitialized_shared"), 6);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_GT(record.accuracy->replay->answers.size(), 1U);
  EXPECT_GT(record.accuracy->replay->wrong, 0);
  EXPECT_THAT(record.reason, ContainsRegex("[2-7] different answers: "));
}

TEST(Replay, EndsWhenTheRunIsStopped) {
  int asked = 0;
  const Record record = replayed(replayed_quantize("correct"), 1000, [&] { return ++asked > 6; });
  EXPECT_EQ(record.status, Status::Interrupted) << "a resumed run has to run it again";
  EXPECT_TRUE(record.stopped);
  ASSERT_TRUE(record.accuracy.has_value());
  EXPECT_LT(record.accuracy->replay->runs, 10);
}

}  // namespace

}  // namespace assay::faults
