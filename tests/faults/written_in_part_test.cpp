#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Outputs of which an op writes a part: what it writes must be written, and what it keeps must be kept.

namespace assay::faults {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Shape tokens{2, 3, 2, 5};

Case update_case(const std::string& impl, std::int64_t start = 4) {
  static const Op op = update_cache();
  return fault_case(op, impl, update_cache_params(tokens, 9, start));
}

TEST(WrittenInPart, ARightKernelPasses) {
  for (const std::int64_t start : {0, 4, 6}) {
    const Record record = Bench::shared().run(update_case("correct", start));
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
  }
}

TEST(WrittenInPart, AKernelThatWritesNothingFails) {
  const Record record = Bench::shared().run(update_case("null_kernel"));
  EXPECT_EQ(record.status, Status::Fail);
  ASSERT_TRUE(record.accuracy);
  EXPECT_EQ(record.accuracy->metric, "unwritten");
  EXPECT_THAT(record.reason,
              HasSubstr("60 of 60 elements of 'cache' that the op writes were never written, first cache[0, "
                        "4, 0, 0]"));
}

TEST(WrittenInPart, AValueThatIsNotWrittenIsNamed) {
  const Record record = Bench::shared().run(update_case("last_value_not_written"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("1 of 60 elements of 'cache' that the op writes were never written, "
                                       "first cache[1, 6, 1, 4]"));
}

TEST(WrittenInPart, WhatIsKeptMayNotChange) {
  const Record next = Bench::shared().run(update_case("writes_what_is_kept"));
  EXPECT_EQ(next.status, Status::Fail);
  EXPECT_THAT(next.reason, AllOf(HasSubstr("cache[0, 7, 0, 0]: expected"),
                                 HasSubstr("bit for bit as before: the op does not write it")));
  const Record first = Bench::shared().run(update_case("zeros_what_is_kept"));
  EXPECT_EQ(first.status, Status::Fail);
  EXPECT_THAT(first.reason, HasSubstr("cache[0, 0, 0, 0]: expected"));
}

/// Writes x, of bytes, where the reference says that its bits are turned.
Op copy_instead_of_flip(std::int64_t bytes) {
  Op op = test::overwrite_op(100);
  op.tensors = [tensors = op.tensors](const Params& params) {
    std::vector<TensorSpec> specs = tensors(params);
    for (TensorSpec& spec : specs) spec.dtype = DType::I8;
    return specs;
  };
  op.reference = [reference = op.reference](const Params& params, std::span<const HostTensor> inputs) {
    std::vector<HostTensor> turned(inputs.begin(), inputs.end());
    for (std::int8_t& value : turned[0].as<std::int8_t>()) value = static_cast<std::int8_t>(~value);
    return reference(params, turned);
  };
  op.impls.front().build = [bytes](const BuildContext&) {
    Dispatch dispatch{.label = "copy",
                      .shader = "copy_words.comp",
                      .workgroups = {static_cast<std::uint32_t>(bytes / 4 / 64), 1, 1},
                      .bindings = {Resource::tensor(0), Resource::tensor(2)}};
    dispatch.push.add(bytes / 4);
    return Program{.dispatches = {dispatch}};
  };
  return op;
}

/// One of 256 wrong bytes equals what was there before.
TEST(WrittenInPart, WrongBytesThatWereThereBeforeByChanceWereWritten) {
  const std::int64_t bytes = 16384;
  const Op op = copy_instead_of_flip(bytes);
  const Record record = Bench::shared().run(test::make_case(op, test::shape_params({bytes})));
  EXPECT_EQ(record.status, Status::Fail);
  ASSERT_TRUE(record.accuracy);
  EXPECT_EQ(record.accuracy->metric, "wrong_value") << record.reason;
  EXPECT_THAT(record.reason, Not(HasSubstr("never written")));
}

/// The rows would be there already when a second program of a batch runs.
TEST(WrittenInPart, AKernelMayNotReadWhatIsThere) {
  const Record record = Bench::shared().run(update_case("reads_the_cache"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, AllOf(HasSubstr("the shader reads"), HasSubstr("where tensor 2 is bound")));
}

TEST(WrittenInPart, ACaseThatBeginsWithItsAnswerIsMistrusted) {
  Case test_case = update_case("correct");
  for (const char* input : {"x", "cache"})
    test_case.fills.edit()[input] = {.kind = FillKind::Constant, .value = 3};
  const Record record = Bench::shared().run(test_case);
  EXPECT_EQ(record.status, Status::Mistrusted) << record.reason;
}

/// x fills the cache, so that its copy is right; that the cache begins with its answer proves nothing.
TEST(WrittenInPart, ACaseThatBeginsWithItsAnswerIsMistrustedWhereACopyIsRight) {
  static const Op op = update_cache();
  const Params params = update_cache_params(tokens, 3, 0);
  EXPECT_EQ(Bench::shared().run(fault_case(op, "correct", params)).status, Status::Pass);
  Case test_case = fault_case(op, "correct", params);
  const DataSet data = make_data_set(test_case);
  Op same = op;
  same.reference = [](const Params&, std::span<const HostTensor> inputs) {
    std::vector<Expected> outputs(1);
    outputs[0].values = inputs[1];
    outputs[0].kept.assign(static_cast<std::size_t>(inputs[1].numel()), 1);
    return outputs;
  };
  same.impls.front().build = [](const BuildContext& context) {
    return op.find_impl("null_kernel")->build(context);
  };
  test_case.op = &same;
  test_case.impl = &same.impls.front();
  const Record record = Bench::shared().run(test_case);
  EXPECT_EQ(record.status, Status::Mistrusted) << record.reason;
  EXPECT_THAT(record.reason, HasSubstr("what 'cache' holds before the op would pass too"));
}

/// By the host and on the device, wherever outputs are poisoned.
TEST(WrittenInPart, MemoryBeginsWithTheDataBefore) {
  const Case test_case = update_case("null_kernel");
  const DataSet data = make_data_set(test_case);
  PackedInputs packed(data.inputs);
  Bench& bench = Bench::shared();
  gpu::DeviceMemory memory(bench.device(), bench.shaders());
  const Program program = test_case.impl->build(
      {test_case.params, test_case.tensors, test_case.forms, bench.device().info(), test_case.tune});
  for (const bool on_device : {false, true}) {
    auto originals =
        on_device ? std::make_unique<Originals>(bench.device(), memory, test_case, packed) : nullptr;
    Experiment experiment(bench.device(), bench.shaders(), test_case, program, packed, std::move(originals));
    for (const Poison poison : {Poison::A, Poison::B}) {
      gpu::Workspace workspace = experiment.fresh_workspace(poison);
      EXPECT_TRUE(
          same_bytes((*experiment.outputs_of(workspace))[0], data.inputs[1], 0, data.inputs[1].numel()));
      workspace.write(Resource::tensor(2), ByteBuffer(workspace.size(Resource::tensor(2))));
      experiment.poison_outputs(workspace, poison);
      EXPECT_TRUE(
          same_bytes((*experiment.outputs_of(workspace))[0], data.inputs[1], 0, data.inputs[1].numel()));
    }
    EXPECT_FALSE(experiment.updates_in_place()) << "its programs are timed in batches";
  }
}

}  // namespace
}  // namespace assay::faults
