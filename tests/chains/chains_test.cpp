#include "harness/chain/chain.h"
#include "tests/chains/chains_test_support.h"
#include "tests/faults/bench.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A quantized tensor through a copy, an addition with what it was before, and a clamp.
const std::string residual = R"(chain: residual
tensors: {x: {dtype: i8, shape: [1, 6, 5, 7], qparams: {scale: 0.05, zero_point: 3}}}
nodes:
  - {name: clamp, op: q8ta_relu, with: {y: {scale: 0.05, zero_point: 3}}, inputs: {x: x}, outputs: {y: a}}
  - {name: keep, op: q8ta_clone, inputs: {x: a}, outputs: {y: b}}
  - {name: skip, op: q8ta_add, with: {y: {scale: 0.1, zero_point: -1}}, inputs: {a: b, b: x}, outputs: {y: c}}
  - {name: last, op: q8ta_clone, inputs: {x: c}, outputs: {y: d}}
cases:
  - name: one
    mode: both
    impl: {each: [naive, greedy, optimal]}
    forms: {each: [{x: buffer/4W4C, d: buffer/4W4C}, {x: buffer/4C1W, d: buffer/4W}]}
)";

TEST(Chains, TheRefineNetHasElevenTransitionsNaivelyAndAtMostThreeWhenPlanned) {
  for (const char* file : {"refinenet_fused", "refinenet_unfused"}) {
    const std::vector<Case> cases =
        load(fs::path(ASSAY_SOURCE_DIR) / "cases" / "chains" / (std::string(file) + ".yaml"));
    const Case& whole = named(cases, "whole", "naive");
    EXPECT_EQ(plan_of(whole, chain::PlanMode::Naive).transitions, 11) << file;
    const chain::LayoutPlan best = plan_of(whole, chain::PlanMode::Optimal);
    EXPECT_LE(best.transitions, 3) << file;
    EXPECT_TRUE(best.is_exact);
    EXPECT_EQ(best.folded.size(), 1U) << "the clone";
    EXPECT_LE(plan_of(whole, chain::PlanMode::Greedy).transition_bytes,
              plan_of(whole, chain::PlanMode::Naive).transition_bytes);
  }
}

TEST(Chains, AllPlansGiveTheSameAnswer) {
  std::set<std::string> hashes;
  for (const Case& one : load_text(residual)) {
    const Record record = run(one);
    EXPECT_EQ(record.status, Status::Pass) << one.id << ": " << record.reason;
    ASSERT_TRUE(record.accuracy);
    EXPECT_TRUE(record.accuracy->hash_is_portable);
    hashes.insert(record.accuracy->output_hash);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST(Chains, NodesWithBoundsAreJudgedByWhatTheyFoundInTheirInputs) {
  const std::vector<Case> cases = load_text(R"(chain: layers
tensors: {x: {dtype: f32, shape: [5, 64]}}
nodes:
  - {name: up, op: linear_q8csw, with: {N: 48, activation: relu}, inputs: {x: x}, outputs: {y: a}}
  - {name: down, op: linear_q8csw, with: {N: 64}, inputs: {x: a}, outputs: {y: b}}
cases:
  - {name: one, impl: optimal}
)");
  const Record record = run(cases.front());
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  ASSERT_TRUE(record.accuracy);
  EXPECT_FALSE(record.accuracy->hash_is_portable) << "sums may be added in any order";
}

/// The ops of the tree, of which q8ta_add computes something else on the device.
Registry with_wrong_add() {
  std::vector<Op> ops(tree_ops().ops().begin(), tree_ops().ops().end());
  Op& add = *std::ranges::find(ops, "q8ta_add", &Op::name);
  for (Impl& impl : add.impls) {
    impl.build = [right = impl.build](const BuildContext& context) {
      Params params = context.params;
      params.set("alpha", 0.5);
      return right(BuildContext(params, context.tensors, context.forms, context.device, context.tune));
    };
  }
  return Registry(std::move(ops));
}

TEST(Chains, TheFirstWrongNodeIsNamedAndNoLaterOne) {
  const Registry wrong = with_wrong_add();
  const std::vector<Case> cases = load_text(residual, wrong);
  for (const char* impl : {"naive", "optimal"}) {
    const Record record = run(named(cases, "one", impl));
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, StartsWith("judged node by node: skip/y["));
    EXPECT_THAT(record.reason, Not(HasSubstr("last/y")));
    ASSERT_TRUE(record.accuracy);
    EXPECT_EQ(record.accuracy->output, "skip/y");
  }
}

TEST(Chains, AWrongNodeIsNamedWhereTensorsAreDumped) {
  const Registry wrong = with_wrong_add();
  const std::vector<Case> cases = load_text(residual, wrong);
  const TemporaryFolder dump;
  const std::vector<Record> records =
      faults::Bench::shared()
          .run({named(cases, "one", "naive")}, {.rows = {.dump = dump.path()}, .mode = Mode::Accu})
          .records;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_THAT(records[0].reason, StartsWith("judged node by node: skip/y["));
  ASSERT_TRUE(records[0].accuracy);
  EXPECT_EQ(records[0].accuracy->output, "skip/y");
  for (const auto& entry : fs::recursive_directory_iterator(dump.path()))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".got.npy"))) << "tensors of another node";
}

/// A node has four values, which secret data may make equal.
const std::string narrow = R"(chain: narrow
tensors: {x: {dtype: i8, shape: [1, 4, 1, 1], qparams: {scale: 0.05, zero_point: 3}}}
nodes:
  - {name: clamp, op: q8ta_relu, inputs: {x: x}, outputs: {y: a}}
  - {name: widen, op: q8ta_conv2d_pw, with: {OC: 64}, inputs: {x: a}, outputs: {y: b}}
cases:
  - {name: one, mode: both, impl: naive}
)";

TEST(Chains, ANodeThatSecretDataMakeTrivialFailsNoRow) {
  const std::vector<Case> cases = load_text(narrow);
  for (const std::uint64_t seed_of_equal_values : {3U, 6U}) {
    DeviceRunOptions options{.mode = Mode::Perf};
    options.secret_seed = seed_of_equal_values;
    const Record record = faults::Bench::shared().run({cases.front()}, options).records.at(0);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
  }
}

TEST(Chains, ATimedChainSaysWhatEachNodeTook) {
  const std::vector<Case> cases = load_text(residual);
  const Record record = run(cases.front(), Mode::Perf);
  ASSERT_EQ(record.status, Status::Pass) << record.reason;
  ASSERT_TRUE(record.perf);
  EXPECT_TRUE(record.perf->verified);
  std::vector<std::string> labels;
  for (const auto& dispatch : record.perf->dispatches) labels.push_back(dispatch.label);
  EXPECT_THAT(labels, ::testing::Contains(StartsWith("clamp/")));
  EXPECT_THAT(labels, ::testing::Contains(StartsWith("skip/")));
}

// Timed programs of chains that give the right answer although they use memory of tensors that are dead: by
// chance, as the answer happens to be there.

using ::testing::AllOf;

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

Scratch& scratch_of(Program& program, const std::string& tensor) {
  return *std::ranges::find_if(
      program.scratch, [&](const Scratch& scratch) { return scratch.name.starts_with(tensor + " as "); });
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
