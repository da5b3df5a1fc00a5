#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::faults {

// Programs that are refused before they run: shaders that ask for what the program does not give, and set-up
// that does more than set up. What they would do differs from device to device.

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::array modes{Mode::Accu, Mode::Perf};

Case asking_case(const std::string& impl) {
  static const Op op = asking_matmul();
  return fault_case(op, impl, matmul_params(5, 33, 13));
}

Case packing_case(const std::string& impl) {
  static const Op op = packing_matmul();
  return fault_case(op, impl, matmul_params(5, 33, 13));
}

TEST(AskingShader, FailsWithWhatItDeclaresAndWhatItGets) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"constant_not_pushed", "the shader declares 4 bytes of push constants, and the dispatch pushes 0"},
      {"set_seven", "the shader uses set 7, binding 0 ('Far'), and programs bind set 0 alone"},
      {"binding_nine", "the shader uses set 0, binding 9 ('Far'), and the dispatch binds 3 resources"},
      {"other_workgroup",
       "the shader's workgroups are of 8 x 1 x 1 invocations, and the dispatch says 64 x 1 x 1"}};
  for (const auto& [impl, reason] : faults) {
    for (const Mode mode : modes) {
      const Record record = Bench::shared().run(asking_case(impl), mode);
      EXPECT_EQ(record.status, Status::Fail) << impl;
      EXPECT_THAT(record.reason,
                  AllOf(HasSubstr("interface_faults.comp with FAULT_" + impl), HasSubstr(reason)));
      EXPECT_FALSE(record.accuracy || record.perf) << impl;
    }
  }
}

TEST(AskingShader, ForMoreSharedMemoryThanThereIsIsUnsupportedWithBothNumbers) {
  const std::uint32_t limit = Bench::shared().device().info().max_shared_bytes;
  for (const Mode mode : modes) {
    const Record record = Bench::shared().run(asking_case("huge_shared_memory"), mode);
    EXPECT_EQ(record.status, Status::Unsupported);
    EXPECT_EQ(record.reason,
              "dispatch 'huge_shared_memory' needs 1073741824 bytes of shared memory, "
              "maxComputeSharedMemorySize is " +
                  std::to_string(limit));
  }
}

TEST(SetUp, MayPackWeightsAndIsTimedByItself) {
  const Record record = Bench::shared().run(packing_case("weights"), Mode::Perf);
  ASSERT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_GT(record.perf->setup_us, 0);
  ASSERT_EQ(record.perf->dispatches.size(), 1U);
  EXPECT_EQ(record.perf->dispatches[0].label, "product");
  EXPECT_EQ(Bench::shared().run(packing_case("weights")).status, Status::Pass);
}

TEST(SetUp, ThatReadsActivationsIsRefused) {
  for (const Mode mode : modes) {
    const Record record = Bench::shared().run(packing_case("activations"), mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, HasSubstr("building impl 'activations' of op 'matmul': setup dispatch 'pack' "
                                         "binds the input 'x', which differs from run to run"));
    EXPECT_FALSE(record.accuracy || record.perf);
  }
}

TEST(SetUp, WhoseScratchATimedDispatchMayWriteIsRefused) {
  for (const Mode mode : modes) {
    const Record record = Bench::shared().run(packing_case("weights_written_later"), mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason,
                AllOf(HasSubstr("dispatch 'product'"), HasSubstr("may write set 0, binding 1 ('W')"),
                      HasSubstr("scratch 'packed' is bound, which set-up wrote")));
    EXPECT_FALSE(record.accuracy || record.perf);
  }
}

// Programs whose shaders read outputs or write inputs: they could keep there what the next program needs.

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
