#include "harness/engine/accuracy/replay.h"

#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>

// Rows that are run again and again (--replay).

namespace assay::faults {
namespace {

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
