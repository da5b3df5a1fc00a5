#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Programs whose shaders read outputs or write inputs: they could keep there what the next program needs.

namespace assay::faults {
namespace {

using ::testing::HasSubstr;

/// The record of an impl whose program does not say why its shaders may do anything.
Record without_excuse(Op op, const std::string& impl, const Params& params) {
  for (Impl& one : op.impls) {
    one.build = [build = one.build](const BuildContext& context) {
      Program program = build(context);
      program.unchecked_because.clear();
      return program;
    };
  }
  return Bench::shared().run(fault_case(op, impl, params));
}

TEST(Access, AShaderThatReadsAnOutputIsRefused) {
  const Record record = without_excuse(quantize(), "keeps_old_bit", quantize_params({2, 5, 3, 7}));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason,
              HasSubstr("where tensor 3 is bound, an output: what the program before left there"));
}

TEST(Access, AShaderThatReadsAnOutputImageIsRefused) {
  const Record record = without_excuse(flip(Storage::Texture3D), "keeps_old_bit", flip_params({3, 5, 7}));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("where tensor 1 is bound, an output"));
}

TEST(Access, AShaderThatWritesAnInputIsRefused) {
  const Record record = without_excuse(quantize(), "input_overwritten", quantize_params({2, 5, 3, 7}));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("an input: what it leaves there the next program finds"));
}

TEST(Access, AShaderThatReadsScratchWhichNothingHasWrittenIsRefused) {
  const Record record = without_excuse(matmul(), "wrong_when_repeated", matmul_params(4, 33, 9));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason,
              HasSubstr("where the scratch 'mark' is bound, which no dispatch before it writes"));
}

TEST(Access, OthersRun) {
  EXPECT_EQ(without_excuse(quantize(), "correct", quantize_params({2, 5, 3, 7})).status, Status::Pass);
  EXPECT_EQ(without_excuse(flip(Storage::Texture2D), "correct", flip_params({5, 7})).status, Status::Pass);
}

}  // namespace
}  // namespace assay::faults
