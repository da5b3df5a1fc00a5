#include "harness/commands/fuzz/fuzz.h"

#include "harness/cases/expansion/load.h"
#include "ops/registry.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::app {
namespace {

const Registry& run_ops() {
  static const Registry made = ops::registry();
  return made;
}

/// A linear layer whose bias in units of x.scale * w_scale is an int32, or is not.
Case linear_with_bias(const std::string& x_scale) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write(
      "c.yaml",
      "op: q8ta_linear\ncases:\n  - {name: c, M: 1, K: 1, N: 1, epilogue: fixed_point, bias: true, "
      "x: {scale: " +
          x_scale + ", zero_point: 0}}\n");
  return load_cases(std::array{file}, run_ops()).cases.at(0);
}

Record failed_without_answer() {
  Record record;
  record.status = Status::Fail;
  record.reason = "why";
  return record;
}

TEST(PointEnd, OfDataThatTheReferenceRefusesIsInvalid) {
  EXPECT_EQ(end_of(failed_without_answer(), linear_with_bias("1e-17")).status, Status::Invalid);
  EXPECT_EQ(end_of(failed_without_answer(), linear_with_bias("0.02")).status, Status::Fail);
}

/// An error of a reference in Python ended all of the fuzzing.
TEST(PointEnd, OfAReferenceThatFailsIsAFailure) {
  Case point = linear_with_bias("0.02");
  for (const bool is_error : {true, false}) {
    Op op = *point.op;
    op.reference = [=](const Params&, std::span<const HostTensor>) -> std::vector<Expected> {
      if (is_error) throw Error("running the reference r.py: IndexError");
      throw std::logic_error("it gave no output");
    };
    point.op = &op;
    EXPECT_TRUE(end_of(failed_without_answer(), point).is_failure());
    EXPECT_EQ(end_of(failed_without_answer(), point).status, Status::Fail);
  }
}

TEST(PointEnd, OfAWrongAnswerIsAFailureOfItsMetric) {
  Record record = failed_without_answer();
  record.accuracy.emplace().metric = "unwritten";
  const PointEnd end = end_of(record, linear_with_bias("1e-17"));
  EXPECT_EQ(end.status, Status::Fail);
  EXPECT_EQ(end.metric, "unwritten");
  EXPECT_EQ(end.what, "why");
  EXPECT_TRUE(end.is_failure());
}

TEST(PointEnd, IsAFailureIfTheWorkerIsLostButNotIfNothingIsKnown) {
  for (const Status status : {Status::Crash, Status::Timeout, Status::DeviceLost, Status::OutOfMemory})
    EXPECT_TRUE((PointEnd{.status = status}.is_failure())) << name_of(status);
  for (const Status status : {Status::Pass, Status::Unsupported, Status::Invalid, Status::Mistrusted,
                              Status::Missing, Status::Interrupted})
    EXPECT_FALSE((PointEnd{.status = status}.is_failure())) << name_of(status);
}

}  // namespace

}  // namespace assay::app
