#include "harness/engine/accuracy/chain_check.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/accuracy/output_check.h"
#include "tests/chains/chains_test_support.h"
#include "tests/faults/bench.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<Case> layer(const std::string& file, const Registry& ops = tree_ops()) {
  return load(fs::path(ASSAY_SOURCE_DIR) / "cases" / "chains" / (file + ".yaml"), ops);
}

Case small_layer() {
  return named(layer("llama_3_2_1b_layer"), "small", "optimal");
}

TEST(DecoderLayer, ReadsTheRowsThatItWritesIntoItsCaches) {
  const Case one = small_layer();
  const auto tensor = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(*one.tensors, name, &TensorSpec::name) -
                                    one.tensors->begin());
  };
  const TensorSpec& before = one.tensors[tensor("k_before")];
  EXPECT_EQ(before.domain.valid, 7) << "later rows are NaN";
  EXPECT_EQ(before.domain.valid_axis, 1U);
  EXPECT_EQ(one.tensors[tensor("k_cache")].starts_as, tensor("k_before"));
  EXPECT_TRUE(one.tensors[tensor("v_cache")].written_in_part);
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    Case timed = one;
    timed.mode = mode;
    const Record record = run(timed, mode);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    if (mode == Mode::Perf) {
      ASSERT_TRUE(record.perf);
      EXPECT_TRUE(record.perf->verified);
    }
  }
}

/// The ops of the tree, of which one takes tokens for later ones on the device.
Registry with_late_tokens(const std::string& name) {
  std::vector<Op> ops(tree_ops().ops().begin(), tree_ops().ops().end());
  Op& late = *std::ranges::find(ops, name, &Op::name);
  for (Impl& impl : late.impls) {
    if (!impl.build) continue;
    impl.build = [right = impl.build](const BuildContext& context) {
      Params params = context.params;
      params.set("start_pos", params.integer("start_pos") + 1);
      return right(BuildContext(params, context.tensors, context.forms, context.device, context.tune));
    };
  }
  return Registry(std::move(ops));
}

TEST(DecoderLayer, AnUpdateOfTheWrongRowsIsNamed) {
  const Registry wrong = with_late_tokens("update_cache");
  const std::vector<Case> cases = layer("llama_3_2_1b_layer", wrong);
  const Record record = run(named(cases, "small", "optimal"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason,
              AllOf(StartsWith("judged node by node: "),
                    HasSubstr("32 of 32 elements of 'k_update/cache' that the op writes were never written"),
                    HasSubstr("; 64 of 416 elements wrong")))
      << "32 others were written that are kept";
}

TEST(DecoderLayer, AttentionToARowThatDoesNotExistIsSeen) {
  const Registry wrong = with_late_tokens("sdpa");
  const std::vector<Case> cases = layer("llama_3_2_1b_layer", wrong);
  const Record record = run(named(cases, "small", "optimal"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, StartsWith("judged node by node: attention/y["));
  ASSERT_TRUE(record.accuracy);
  EXPECT_TRUE(std::isnan(record.accuracy->got)) << "the row is NaN, whatever the fill";
}

TEST(DecoderLayer, ATimedProgramThatWritesOtherRowsIsWrong) {
  const Case other = with_timed_program(small_layer(), [](Program& program) {
    dispatch_of(program, "k_update").bindings[0] = dispatch_of(program, "v_update").bindings[0];
  });
  const Record record = run(other);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("k_cache[0, 6, 0, 0]: expected "));
}

/// The rows of an earlier program are still there.
TEST(DecoderLayer, AttentionThatReadsACacheBeforeItIsWrittenIsRefused) {
  const Case without = with_timed_program(small_layer(), [](Program& program) {
    std::erase_if(program.dispatches, [](const Dispatch& one) { return one.label.starts_with("v_update/"); });
  });
  const Case early = with_timed_program(small_layer(), [](Program& program) {
    const Dispatch moved = dispatch_of(program, "k_update");
    std::erase_if(program.dispatches, [](const Dispatch& one) { return one.label.starts_with("k_update/"); });
    program.dispatches.push_back(moved);
  });
  EXPECT_THAT(run(without).reason, HasSubstr("the shader reads set 0, binding 2 ('V')"));
  EXPECT_THAT(run(early).reason, HasSubstr("the shader reads set 0, binding 1 ('K')"));
}

/// The data set of `one` for a chain with the same inputs in another order.
DataSet with_data_of(const Case& other, const Case& one, const DataSet& data) {
  DataSet same;
  for (const TensorSpec& wanted : *other.tensors) {
    if (!wanted.is_input()) continue;
    std::size_t input = 0;
    for (const TensorSpec& spec : *one.tensors) {
      if (spec.is_input() && spec.name == wanted.name) same.inputs.push_back(data.inputs[input]);
      if (spec.is_input()) ++input;
    }
  }
  same.input_hash = data.input_hash;
  same.expected = other.op->reference(other.params, same.inputs);
  same.from_files.resize(same.expected.size());
  return same;
}

/// What a chain leaves, by name of the output. Its steps are right.
std::map<std::string, HostTensor> left_by(const Case& one, const DataSet& data) {
  faults::Bench& bench = faults::Bench::shared();
  const Tune tune;
  const Program program =
      one.impl->build(BuildContext(one.params, *one.tensors, one.forms, bench.device().info(), tune));
  PackedInputs inputs(data.inputs);
  Experiment experiment(bench.device(), bench.shaders(), one, program, inputs);
  const AccuracyOutcome outcome =
      assess_chain(experiment, bench.device(), bench.shaders(), one, *program.chain, data);
  EXPECT_EQ(outcome.status, Status::Pass) << one.id << ": " << outcome.reason;
  std::map<std::string, HostTensor> left;
  const std::vector<const TensorSpec*> specs = output_specs(one);
  for (std::size_t i = 0; outcome.outputs && i < specs.size(); ++i)
    left.emplace(specs[i]->name, (*outcome.outputs)[i]);
  return left;
}

std::string hash_alone(const HostTensor& tensor) {
  return answer_hash_of(std::span(&tensor, 1));
}

/// The largest difference of two outputs over the largest value.
double difference(const HostTensor& a, const HostTensor& b) {
  double largest = 0, most = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    if (same_bytes(a, b, i, i + 1)) continue;
    most = std::max(most, std::abs(a.at(i) - b.at(i)));
  }
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    if (std::isfinite(a.at(i))) largest = std::max(largest, std::abs(a.at(i)));
  }
  return most / largest;
}

TEST(DecoderLayer, FusedAndUnfusedLayersLeaveTheSame) {
  for (const char* name : {"small", "small_prompt", "small_batch", "small_heads"}) {
    SCOPED_TRACE(name);
    const Case one = named(layer("llama_3_2_1b_layer"), name, "optimal");
    const DataSet data = make_data_set(one);
    const std::map<std::string, HostTensor> unfused = left_by(one, data);
    for (const char* file : {"llama_3_2_1b_layer_fused", "llama_3_2_1b_layer_unfused"}) {
      SCOPED_TRACE(file);
      const Case other = named(layer(file), name, "optimal");
      const std::map<std::string, HostTensor> fused = left_by(other, with_data_of(other, one, data));
      ASSERT_EQ(fused.size(), unfused.size());
      // No rounding lies between the inputs of the chain and v's rows but that of equal nodes.
      EXPECT_EQ(hash_alone(fused.at("v_cache")), hash_alone(unfused.at("v_cache")));
      for (const auto& [output, values] : fused)
        EXPECT_LE(difference(values, unfused.at(output)), 0x1p-7) << output;
    }
  }
}

}  // namespace
}  // namespace assay
