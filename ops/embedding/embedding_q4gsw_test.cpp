#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

const Form buffer{Storage::Buffer, Layout::WP};
const Form texture_rows{Storage::Texture3D, Layout::WP};
const Form flat_texture{Storage::Texture2D, Layout::WP};

class EmbeddingQ4gswTest : public OnDeviceTest {
 protected:
  static Params table(const Shape& indices, std::int64_t vocab, std::int64_t dim, std::int64_t group_size,
                      const std::string& dtype = "f32") {
    Params params;
    params.set("indices", indices);
    params.set("vocab", vocab);
    params.set("dim", dim);
    params.set("group_size", group_size);
    params.set("dtype", dtype);
    return params;
  }

  static Params random_table(Draw& draw) {
    Shape indices;
    for (std::int64_t rank = draw.pick(1, 3); rank > 0; --rank) indices.push_back(draw.pick(1, 6));
    const std::int64_t group_size = 8 * draw.pick(1, 6);
    return table(indices, draw.pick(1, 40), group_size * draw.pick(1, 4), group_size,
                 draw.one_of<std::string>({"f32", "f16"}));
  }

  static std::vector<Form> forms(Form w, Form y) { return {w, buffer, buffer, y}; }

  Dispatch dispatch_of(const Trial& trial) { return program_of(trial).dispatches.front(); }

  Registry ops = registry();
  const Op& op = *ops.find("embedding_q4gsw");
};

TEST_F(EmbeddingQ4gswTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(81);
  for (int round = 0; round < 120 && !HasFatalFailure(); ++round) {
    Trial trial{.op = &op, .params = random_table(draw), .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(op.tensors(trial.params));
    trial.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Uniform, FillKind::Ties, FillKind::Saturate, FillKind::Outlier});
    if (round % 3 == 0) trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})}};
    if (round % 4 == 0) trial.tune["vectors_per_invocation"] = draw.pick(1, 4);
    expect_right(trial);
  }
}

TEST_F(EmbeddingQ4gswTest, IsRightInEveryPairOfFormsAndBothTypes) {
  for (const std::string dtype : {"f32", "f16"}) {
    for (const Form w : {buffer, flat_texture}) {
      for (const Form y : {buffer, texture_rows}) {
        expect_right({.op = &op, .params = table({3, 2, 5}, 70, 192, 96, dtype), .forms = forms(w, y)});
      }
    }
  }
}

TEST_F(EmbeddingQ4gswTest, TunedVectorsChangeTheGridAndNotTheAnswer) {
  for (const std::string dtype : {"f32", "f16"}) {
    const std::int64_t in_all = 11 * 72 / (dtype == "f16" ? 8 : 4);
    for (const std::int64_t vectors : {1, 2, 3, 4}) {
      const Trial trial{.op = &op,
                        .params = table({11}, 30, 72, 24, dtype),
                        .forms = forms(buffer, buffer),
                        .seed = 3,
                        .tune = {{"vectors_per_invocation", vectors}, {"local_size", 7}}};
      EXPECT_EQ(dispatch_of(trial).workgroups[0], div_up(in_all, 7 * vectors));
      expect_right(trial);
    }
  }
}

TEST_F(EmbeddingQ4gswTest, ManyValuesTakeSeveralVectorsAnInvocation) {
  const Trial trial{
      .op = &op, .params = table({1025}, 50, 4096, 128), .forms = forms(buffer, buffer), .seed = 4};
  const Dispatch dispatch = dispatch_of(trial);
  EXPECT_EQ(constant_of(dispatch, "vectors_per_invocation"), 4u);
  EXPECT_EQ(std::int64_t{dispatch.workgroups[0]} * dispatch.workgroups[1],
            div_up(std::int64_t{1025 * 4096 / 16}, dispatch.local_size[0]));
  expect_right(trial);
}

TEST_F(EmbeddingQ4gswTest, HalvesBeyondTheRangeAreInfinite) {
  for (const Form y : {buffer, texture_rows}) {
    Trial trial{.op = &op, .params = table({9}, 8, 32, 8, "f16"), .forms = forms(buffer, y)};
    Op loud = op;  // scales from 2^12 to 2^14: a value of -8 is beyond 65504
    loud.tensors = [this](const Params& params) {
      std::vector<TensorSpec> tensors = op.tensors(params);
      tensors[1].domain = {FillRole::Scale, 0x1p12, 0x1p14};
      return tensors;
    };
    trial.op = &loud;
    expect_right(trial);
  }
}

TEST_F(EmbeddingQ4gswTest, CountsTheRowsThatAreLookedUpAndNotTheTable) {
  const Params params = table({2, 5}, 1000, 64, 32);
  const Work work = op.work(params, op.tensors(params));
  EXPECT_EQ(work.bytes_read, 10 * (4 + 32 + 2 * 4));
  EXPECT_EQ(work.bytes_written, 10 * 64 * 4);
  EXPECT_EQ(work.operations, 2 * 10 * 64);
}

TEST_F(EmbeddingQ4gswTest, CountsNoRowTwice) {
  const Params params = table({100}, 3, 64, 32, "f16");
  const Work work = op.work(params, op.tensors(params));
  EXPECT_EQ(work.bytes_read, 100 * 4 + 3 * (32 + 2 * 4));
  EXPECT_EQ(work.bytes_written, 100 * 64 * 2);
}

TEST_F(EmbeddingQ4gswTest, TakesIndicesBelowVocabOnly) {
  const FillDomain domain = op.tensors(table({4}, 17, 8, 8))[2].domain;
  EXPECT_EQ(domain.role, FillRole::Index);
  EXPECT_EQ(domain.lo, 0);
  EXPECT_EQ(domain.hi, 16);
}

TEST_F(EmbeddingQ4gswTest, RefusesGroupsThatDoNotFillARow) {
  try {
    op.tensors(table({4}, 17, 40, 16));
    FAIL() << "it accepted them";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "dim");
  }
}

}  // namespace
}  // namespace assay::ops
