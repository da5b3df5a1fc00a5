#include "tests/chains/chains_test_support.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Timed programs of chains that give the right answer although they use memory of tensors that are dead: by
// chance, as the answer happens to be there.

namespace assay {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Three clamps, of which the second and third change nothing that the first left; then a net whose tensors
/// are larger, and share memory with the clamps' tensors.
const std::string clamps = R"(chain: clamps
tensors: {x: {dtype: i8, shape: [1, 4, 4, 4], qparams: {scale: 0.05, zero_point: 3}}}
nodes:
  - {name: first, op: q8ta_relu, inputs: {x: x}, outputs: {y: a}}
  - {name: second, op: q8ta_relu, inputs: {x: a}, outputs: {y: b}}
  - {name: third, op: q8ta_relu, inputs: {x: b}, outputs: {y: c}}
  - {name: widen, op: q8ta_conv2d_pw, with: {OC: 16}, inputs: {x: c}, outputs: {y: d}}
  - {name: shuffle, op: q8ta_pixel_shuffle, with: {upscale_factor: 2}, inputs: {x: d}, outputs: {y: e}}
  - {name: last, op: q8ta_relu, inputs: {x: e}, outputs: {y: f}}
cases:
  - {name: one, mode: both, impl: optimal}
)";

using Change = std::function<void(Program&)>;

/// The case with a change to the program that is timed; the steps that are judged one by one stay as they
/// are.
Case with_timed_program(Case test_case, const Change& change) {
  const auto op = std::make_shared<Op>(*test_case.op);
  Impl& impl = *std::ranges::find(op->impls, test_case.impl->name, &Impl::name);
  impl.build = [right = impl.build, change](const BuildContext& context) {
    Program program = right(context);
    change(program);
    return program;
  };
  test_case.op = op.get();
  test_case.impl = &impl;
  test_case.own_op = op;
  return test_case;
}

Scratch& scratch_of(Program& program, const std::string& tensor) {
  return *std::ranges::find_if(
      program.scratch, [&](const Scratch& scratch) { return scratch.name.starts_with(tensor + " as "); });
}

Dispatch& dispatch_of(Program& program, const std::string& node) {
  return *std::ranges::find_if(
      program.dispatches, [&](const Dispatch& dispatch) { return dispatch.label.starts_with(node + "/"); });
}

TEST(DeadTensors, AreNotUsedByARightChain) {
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(load_text(clamps).front(), mode);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
  }
}

/// As if b's memory were taken one step before a's last reader: a node that reads and writes the same words
/// is right by chance, and on other devices it need not be.
TEST(DeadTensors, TakenFromTheirLastReaderAreNoticed) {
  const Case early = with_timed_program(load_text(clamps).front(), [](Program& program) {
    scratch_of(program, "b").in_memory_of = scratch_of(program, "a").in_memory_of;
  });
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(early, mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_FALSE(record.perf);
    ASSERT_TRUE(record.accuracy);
    EXPECT_EQ(record.accuracy->metric, "depends_on_old_output");
    EXPECT_EQ(record.accuracy->output, "f");
    EXPECT_GT(record.accuracy->mismatches, 0);
    EXPECT_THAT(record.reason, AllOf(HasSubstr("second/relu"), HasSubstr("'b as buffer/4W4C'")));
  }
}

/// c shares memory with a, whose values are still there: c's.
TEST(DeadTensors, ThatHoldTheRightAnswerAreNoAnswer) {
  const Case lazy = with_timed_program(load_text(clamps).front(), [](Program& program) {
    dispatch_of(program, "third").shader = "spared_relu.comp";
  });
  const Record record = run(lazy);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, AllOf(HasSubstr("third/relu"), HasSubstr("'c as buffer/4W4C'")));
}

}  // namespace
}  // namespace assay
