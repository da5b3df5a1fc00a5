#include "harness/commands/fuzz/fuzz.h"

#include "harness/cases/expansion/load.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

/// An op of assay, one of a manifest, and one of a manifest whose cases bring their answers.
Registry ops_of_three_kinds() {
  Op own = test::flip_op();
  Op of_manifest = test::flip_op();
  of_manifest.name = "row_softmax";
  of_manifest.declared_in = "mine/row_softmax/op.yaml";
  Op without_reference = of_manifest;
  without_reference.name = "row_mystery";
  without_reference.answers_of_case = [](const Params&, std::vector<HostTensor>) {
    return std::vector<Expected>();
  };
  return Registry({std::move(own), std::move(of_manifest), std::move(without_reference)});
}

std::vector<std::string> names_to_fuzz(const FuzzOptions& options) {
  const Registry registry = ops_of_three_kinds();
  std::vector<std::string> names;
  for (const Op* op : ops_to_fuzz(options, registry)) names.push_back(op->name);
  return names;
}

/// The ops of assay were fuzzed, too.
TEST(OpsToFuzz, AreThoseOfTheFoldersUnlessOthersAreNamed) {
  using testing::ElementsAre;
  EXPECT_THAT(names_to_fuzz({.ops = {}, .op_folders = {"mine"}}), ElementsAre("row_softmax"));
  EXPECT_THAT(names_to_fuzz({.ops = {"flip", "row_*"}, .op_folders = {"mine"}}),
              ElementsAre("flip", "row_softmax"));
  EXPECT_THAT(names_to_fuzz({}), ElementsAre("flip", "row_softmax")) << "all that can be";
}

TEST(OpsToFuzz, AreNoneWhoseCasesBringTheirAnswers) {
  const auto fuzz_it = [] { names_to_fuzz({.ops = {"row_mystery"}, .op_folders = {"mine"}}); };
  EXPECT_THAT(test::error_of(fuzz_it), testing::HasSubstr("each case of these ops brings its answers"));
}

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
