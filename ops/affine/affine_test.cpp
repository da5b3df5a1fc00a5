#include "harness/base/error.h"
#include "ops/affine/affine_points_test_support.h"
#include "ops/registry.h"

namespace assay::ops {
namespace {

using namespace test;

class AffineOpsTest : public AffinePointsTest {
 protected:
  /// Random blocks for the path of one block per quad or texel, on enough elements for several workgroups.
  void try_long_rows(const std::string& name) {
    const Registry ops = registry();
    const Op* op = ops.find(name);
    for (const std::vector<std::int64_t>& block : {std::vector<std::int64_t>{1, -1}, {1, 32}, {-1, -1}}) {
      for (const Form form : {Form{Storage::Buffer, Layout::WP}, Form{Storage::Texture3D, Layout::WP},
                              Form{Storage::Texture2D, Layout::HP}}) {
        Params params;
        params.set("shape", Shape{37, 128});
        params.set("block_size", block);
        Trial trial{.op = op, .params = with_defaults(*op, params), .seed = 5};
        trial.forms = forms_of(4, form);
        expect_right(trial);
      }
    }
  }
};

TEST_F(AffineOpsTest, QuantizeAgreesWithItsReferenceOnRandomPoints) {
  try_points("quantize_affine", 240, 31);
}

TEST_F(AffineOpsTest, DequantizeAgreesWithItsReferenceOnRandomPoints) {
  try_points("dequantize_affine", 240, 32);
}

TEST_F(AffineOpsTest, BothAgreeWithTheirReferencesOnRowsOfWholeQuads) {
  try_long_rows("quantize_affine");
  try_long_rows("dequantize_affine");
}

TEST_F(AffineOpsTest, ATunedLocalSizeChangesTheGridAndNotTheAnswer) {
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  Params params;
  params.set("shape", Shape{5, 77});
  params.set("block_size", std::vector<std::int64_t>{2, 10});
  Trial trial{.op = op, .params = with_defaults(*op, params), .seed = 6, .tune = {{"local_size", 7}}};
  trial.forms = forms_of(4, {Storage::Buffer, Layout::CP});
  expect_right(trial);
  trial.forms = forms_of(4, {Storage::Texture3D, Layout::CP});
  expect_right(trial);
  trial.tune = {{"local_x", 3}, {"local_y", 2}, {"local_z", 5}};
  expect_right(trial);
}

TEST_F(AffineOpsTest, TunedVectorsChangeTheGridAndNotTheAnswer) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    for (const std::int64_t vectors : {1, 2, 3, 4}) {
      for (const std::vector<std::int64_t>& block : {std::vector<std::int64_t>{-1, -1}, {3, 10}}) {
        Params params;
        params.set("shape", Shape{7, 77});  // 134 whole quads and 3 elements
        params.set("block_size", block);
        Trial trial{.op = op,
                    .params = with_defaults(*op, params),
                    .seed = 9,
                    .tune = {{"vectors_per_invocation", vectors}, {"local_size", 7}}};
        trial.forms = forms_of(4, {Storage::Buffer, Layout::WP});
        const Dispatch dispatch = program_of(trial).dispatches.front();
        EXPECT_EQ(dispatch.workgroups[0], div_up(135, 7 * vectors));
        expect_right(trial);
      }
    }
  }
}

/// How quads are shared among invocations: a point, its tuned values, and the expected numbers.
struct Sharing {
  Shape shape;
  std::vector<std::int64_t> block;
  std::map<std::string, std::int64_t> tune;
  std::uint32_t stride;  ///< 0: any
  bool same_blocks;
  Layout layout = Layout::WP;
};

const std::vector<Sharing> sharings{
    {{11, 256}, {1, 128}, {{"vectors_per_invocation", 4}}, 8, true},   // a group of 128
    {{11, 256}, {1, 128}, {{"vectors_per_invocation", 3}}, 4, false},  // 32 quads are no multiple of 3
    {{12, 96}, {2, 64}, {{"vectors_per_invocation", 2}}, 4, true},  // blocks that rows cut: a divisor of both
    {{11, 256}, {-1, 1}, {{"vectors_per_invocation", 4}}, 64, true},  // a row apart
    {{11, 256}, {4, 1}, {{"vectors_per_invocation", 4}}, 64, true},
    {{11, 256},
     {4, 1},
     {{"vectors_per_invocation", 3}},
     0,
     false},  // runs of 3 rows do not end where blocks of 4 do
    {{37, 256}, {8, 1}, {{"vectors_per_invocation", 4}, {"iterations", 2}}, 64, true},
    {{37, 256}, {-1, 1}, {{"vectors_per_invocation", 4}, {"iterations", 4}}, 64, true},
    {{37, 256}, {-1, 1}, {{"vectors_per_invocation", 4}, {"iterations", 4}, {"stride", 5}}, 5, false},
    {{11, 256}, {-1, 30}, {{"vectors_per_invocation", 2}, {"iterations", 3}, {"stride", 1000}}, 1000, false},
    {{11, 256}, {1, 32}, {{"vectors_per_invocation", 4}, {"iterations", 2}, {"stride", 1}}, 1, true},
    // Pixels are rows.
    {{2, 24, 5, 16}, {1, 1, -1, -1}, {{"vectors_per_invocation", 4}}, 6, true, Layout::CP},
    {{2, 64, 5, 16}, {1, -1, 1, 1}, {{"vectors_per_invocation", 4}}, 4, true, Layout::CP},
    {{2, 3, 64, 16}, {1, 1, -1, 4}, {{"vectors_per_invocation", 2}}, 0, true, Layout::HP},
};

TEST_F(AffineOpsTest, QuadsOfAnInvocationShareBlocksWhereTheyCan) {
  constexpr std::size_t stride_word = 27;  // after the range, the count and four axes of six words
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  for (const Sharing& sharing : sharings) {
    Params params;
    params.set("shape", sharing.shape);
    params.set("block_size", sharing.block);
    Trial trial{.op = op, .params = with_defaults(*op, params), .tune = sharing.tune};
    trial.forms = forms_of(4, {Storage::Buffer, sharing.layout});
    const Dispatch dispatch = program_of(trial).dispatches.front();
    SCOPED_TRACE(to_string(sharing.shape) + " in blocks of " + to_string(sharing.block));
    EXPECT_EQ(constant_of(dispatch, "same_blocks"), sharing.same_blocks ? 1U : 0U);
    if (sharing.stride != 0) {
      EXPECT_EQ(dispatch.push.words().at(stride_word), sharing.stride);
    }
  }
}

TEST_F(AffineOpsTest, AnySharingOfQuadsIsRightForEveryTypeAndDomain) {
  const Registry ops = registry();
  int round = 0;
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    for (const Sharing& sharing : sharings) {
      for (const std::string domain : {"int", "none", "float"}) {
        Params params;
        params.set("shape", sharing.shape);
        params.set("block_size", sharing.block);
        params.set("dtype", std::string(round % 2 == 0 ? "f16" : "f32"));
        params.set("quantized", std::string(round % 3 == 0 ? "i8" : round % 3 == 1 ? "u8" : "i32"));
        params.set("zero_point_domain", domain);
        const bool special = name == "quantize_affine" && domain != "float" && round % 4 == 0;
        Trial trial{.op = op,
                    .params = with_defaults(*op, params),
                    .fill = special ? FillKind::Special : FillKind::Normal,
                    .seed = static_cast<std::uint64_t>(round),
                    .tune = sharing.tune};
        trial.forms = forms_of(op->tensors(trial.params).size(), {Storage::Buffer, sharing.layout});
        expect_right(trial);
        ++round;
      }
    }
  }
}

TEST_F(AffineOpsTest, ManyQuadsOfOneBlockTakeSeveralVectorsAnInvocation) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    Params params;
    params.set("shape", Shape{(1 << 22) + 5});
    params.set("block_size", std::vector<std::int64_t>{-1});
    Trial trial{.op = op, .params = with_defaults(*op, params), .seed = 10};
    trial.forms = forms_of(4, {Storage::Buffer, Layout::WP});
    const Dispatch dispatch = program_of(trial).dispatches.front();
    EXPECT_EQ(std::int64_t{dispatch.workgroups[0]} * dispatch.workgroups[1],
              div_up(std::int64_t{(1 << 18) + 1}, dispatch.local_size[0]));
    expect_right(trial);
  }
}

TEST_F(AffineOpsTest, ManyHalvesAreQuantizedByPairsOfQuadsTwice) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    Params params;
    params.set("shape", Shape{1 << 10, 1 << 12});
    params.set("block_size", std::vector<std::int64_t>{1, -1});
    params.set("dtype", std::string("f16"));
    Trial trial{.op = op, .params = with_defaults(*op, params), .seed = 11};
    trial.forms = forms_of(4, {Storage::Buffer, Layout::WP});
    const bool quantizes = name == "quantize_affine";
    const Dispatch dispatch = program_of(trial).dispatches.front();
    EXPECT_EQ(constant_of(dispatch, "vectors_per_invocation"), quantizes ? 2U : 4U);
    EXPECT_EQ(constant_of(dispatch, "iterations"), quantizes ? 2U : 1U);
    EXPECT_EQ(constant_of(dispatch, "same_blocks"), 1U);
    expect_right(trial);
  }
}

TEST_F(AffineOpsTest, BatchesOfATextureDoNotMixWithItsSlices) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    Params params;
    params.set("shape", Shape{3, 10, 5, 9});
    params.set("block_size", std::vector<std::int64_t>{1, 3, 2, 4});
    for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
      Trial trial{.op = op, .params = with_defaults(*op, params), .seed = 7};
      trial.forms = forms_of(4, {Storage::Texture3D, layout});
      expect_right(trial);
    }
  }
}

TEST_F(AffineOpsTest, AHalfOfATextureIsInfiniteWhereverTheReferenceIs) {
  const Registry ops = registry();
  const Op* op = ops.find("dequantize_affine");
  Params params;
  params.set("shape", Shape{6, 40});
  params.set("block_size", std::vector<std::int64_t>{1, 8});
  params.set("quantized", std::string("i32"));
  params.set("dtype", std::string("f16"));
  Trial trial{.op = op, .params = with_defaults(*op, params), .fill = FillKind::Wide, .seed = 8};
  trial.forms = forms_of(4, {Storage::Texture3D, Layout::WP});
  expect_right(trial);
}

TEST_F(AffineOpsTest, AnExtentBeyondTheDeviceIsUnsupportedWithTheNumber) {
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  Params params;
  params.set("shape", Shape{1, 1, 20000, 4});
  params.set("block_size", std::vector<std::int64_t>{1, 1, 1, -1});
  params = with_defaults(*op, params);
  const std::vector<TensorSpec> tensors = op->tensors(params);
  const std::vector<Form> forms = forms_of(tensors.size(), {Storage::Texture3D, Layout::WP});
  std::vector<Physical> physical;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    physical.emplace_back(forms[i], tensors[i].dtype, tensors[i].shape);
  }
  const Program program = op->impls.front().build({params, tensors, forms, device().info(), {}});
  const std::optional<std::string> why = gpu::unsupported(program, physical, {}, device().info(), 0);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, testing::HasSubstr("20000"));
}

TEST(AffineOps, UseOnlyTheDimsOfATextureThatHaveSeveralBlocks) {
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  Params params;
  params.set("shape", Shape{2, 6, 5, 8});
  params.set("block_size", std::vector<std::int64_t>{-1, 1, -1, -1});
  params = with_defaults(*op, params);
  const std::vector<TensorSpec> tensors = op->tensors(params);
  const DeviceInfo device;
  const auto constants = [&](Layout layout) {
    const std::vector<Form> forms = forms_of(tensors.size(), {Storage::Texture3D, layout});
    const Program program = op->impls.front().build({params, tensors, forms, device, {}});
    const Dispatch& dispatch = program.dispatches.front();
    return std::array{constant_of(dispatch, "split_dims"), constant_of(dispatch, "in_one_block"),
                      constant_of(dispatch, "packed_dim")};
  };
  EXPECT_THAT(constants(Layout::WP),
              testing::ElementsAre(4, 1, 0));  // per channel: texels lie in one channel
  EXPECT_THAT(constants(Layout::HP), testing::ElementsAre(4, 1, 1));
  EXPECT_THAT(constants(Layout::CP), testing::ElementsAre(4, 0, 2));  // a texel holds four channels
}

TEST(AffineOps, ExcludeDifferentFormsOfInputAndOutput) {
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  Params params;
  params.set("shape", Shape{4, 4});
  params.set("block_size", std::vector<std::int64_t>{1, -1});
  params = with_defaults(*op, params);
  const std::vector<TensorSpec> tensors = op->tensors(params);
  std::vector<Form> forms(tensors.size(), {Storage::Buffer, Layout::WP});
  EXPECT_EQ(op->impls.front().invalid_reason(ImplPoint{params, tensors, forms, {}}), std::nullopt);
  forms.back().layout = Layout::CP;
  const std::optional<std::string> why =
      op->impls.front().invalid_reason(ImplPoint{params, tensors, forms, {}});
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, testing::HasSubstr("x is buffer/WP and q is buffer/CP"));
  forms.back() = {Storage::Texture3D, Layout::WP};
  EXPECT_THAT(op->impls.front().invalid_reason(ImplPoint{params, tensors, forms, {}}).value_or(""),
              testing::HasSubstr("x is buffer/WP and q is texture3d/WP"));
}

TEST(AffineOps, TakeTheWholeRangeOfTheQuantizedTypeUnlessToldOtherwise) {
  const Registry ops = registry();
  Params params;
  params.set("shape", Shape{4});
  params.set("block_size", std::vector<std::int64_t>{2});
  params.set("quantized", std::string("u8"));
  params.set("quant_max", std::int64_t{15});
  params = with_defaults(*ops.find("quantize_affine"), params);
  EXPECT_EQ(params.integer("quant_min"), 0);
  EXPECT_EQ(params.integer("quant_max"), 15);
}

TEST(AffineOps, HaveNoZeroPointTensorInTheNoneDomain) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const Op* op = ops.find(name);
    Params params;
    params.set("shape", Shape{4, 4});
    params.set("block_size", std::vector<std::int64_t>{1, -1});
    params.set("zero_point_domain", std::string("none"));
    EXPECT_EQ(op->tensors(with_defaults(*op, params)).size(), 3u) << name;
  }
}

TEST(AffineOps, CountEachByteOnceAndTwoOperationsAnElement) {
  const Registry ops = registry();
  const Op* op = ops.find("quantize_affine");
  Params params;
  params.set("shape", Shape{4, 32});
  params.set("block_size", std::vector<std::int64_t>{1, -1});
  params = with_defaults(*op, params);
  const Work work = op->work(params, op->tensors(params));
  EXPECT_EQ(work.bytes_read, 4 * 32 * 4 + 4 * 4 + 4 * 4);
  EXPECT_EQ(work.bytes_written, 4 * 32);
  EXPECT_EQ(work.operations, 2 * 4 * 32);
}

// Tests ops whose name says which elements share a scale: the affine kernels with a derived block size.

const std::vector<std::string> named_ops{"quantize_per_tensor",  "quantize_per_token",
                                         "quantize_per_channel", "dequantize_per_tensor",
                                         "dequantize_per_token", "dequantize_per_channel"};

/// The block size that the name stands for, written explicitly.
std::vector<std::int64_t> block_size_in_words(const std::string& name, const Params& params) {
  const Shape& shape = params.ints("shape");
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> block(rank, -1);
  if (name.ends_with("per_token")) {
    for (std::size_t dim = 0; dim + 1 < rank; ++dim) block[dim] = 1;
  } else if (name.ends_with("per_channel")) {
    const std::int64_t axis = params.integer("axis");
    block[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] = 1;
  }
  return block;
}

/// The equivalent point of the op that takes a block size.
Params with_block_size(const std::string& name, const Params& named) {
  Params params;
  for (const char* same : {"shape", "dtype", "quantized", "quant_min", "quant_max"}) {
    params.set(same, named.at(same));
  }
  params.set("block_size", block_size_in_words(name, named));
  params.set("zero_point_domain", std::string("int"));
  return params;
}

class GranularityOpsTest : public AffinePointsTest {};

TEST_F(GranularityOpsTest, AgreeWithTheirReferencesOnRandomPoints) {
  std::uint32_t seed = 71;
  for (const std::string& name : named_ops) try_points(name, 24, seed++);
}

void expect_same(const Dispatch& got, const Dispatch& want) {
  EXPECT_EQ(got.shader, want.shader);
  EXPECT_EQ(got.defines, want.defines);
  EXPECT_EQ(got.push.words(), want.push.words());
  EXPECT_EQ(got.bindings, want.bindings);
  EXPECT_EQ(got.local_size, want.local_size);
  EXPECT_EQ(got.workgroups, want.workgroups);
  EXPECT_EQ(got.constants, want.constants);
}

void expect_same_values(const std::vector<Expected>& got, const std::vector<Expected>& want) {
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(same_bytes(got[0].values, want[0].values, 0, want[0].values.numel()));
  EXPECT_EQ(got[0].bound, want[0].bound);
}

std::vector<HostTensor> random_inputs(std::span<const TensorSpec> tensors, std::uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].is_input()) continue;
    inputs.push_back(make_filled(tensors[i].dtype, tensors[i].shape, {}, tensors[i].domain, {seed, 1, i}));
  }
  return inputs;
}

TEST(GranularityOps, AreTheAffineOpWithThatBlockSizeOnTheHostAndOnTheDevice) {
  const Registry ops = registry();
  const DeviceInfo device;
  AffinePoints points(77);
  for (int round = 0; round < 120; ++round) {
    const std::string name = points.one_of(named_ops);
    const Op& named = *ops.find(name);
    const Op& affine = *ops.find(name.starts_with("de") ? "dequantize_affine" : "quantize_affine");
    const Params params = points.params(named);
    const Params same = with_block_size(name, params);
    SCOPED_TRACE(name + " " + params.canonical());
    const std::vector<TensorSpec> tensors = named.tensors(params);
    const std::vector<HostTensor> inputs = random_inputs(tensors, static_cast<std::uint64_t>(round));
    expect_same_values(named.reference(params, inputs), affine.reference(same, inputs));
    const std::vector<Form> forms = points.one_form(tensors);
    const Program got = named.impls.front().build({params, tensors, forms, device, {}});
    const Program want = affine.impls.front().build({same, tensors, forms, device, {}});
    ASSERT_EQ(got.dispatches.size(), 1u);
    expect_same(got.dispatches[0], want.dispatches[0]);
  }
}

TEST(GranularityOps, RefuseAnAxisThatTheShapeLacks) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_per_channel", "dequantize_per_channel"}) {
    const Op& op = *ops.find(name);
    Params params;
    params.set("shape", Shape{2, 3});
    params.set("axis", std::int64_t{2});
    params = with_defaults(op, params);
    try {
      op.tensors(params);
      ADD_FAILURE() << name << " accepted it";
    } catch (const ParameterError& error) {
      EXPECT_EQ(error.parameter(), "axis");
    }
  }
}

TEST(GranularityOps, HaveOneScaleATokenOrChannel) {
  const Registry ops = registry();
  Params params;
  params.set("shape", Shape{2, 3, 4, 5});
  params.set("axis", std::int64_t{-3});
  const auto scale_shape = [&](const std::string& name) {
    const Op& op = *ops.find(name);
    return op.tensors(with_defaults(op, params))[1].shape;
  };
  EXPECT_THAT(scale_shape("quantize_per_tensor"), testing::ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(scale_shape("quantize_per_token"), testing::ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(scale_shape("dequantize_per_channel"), testing::ElementsAre(1, 3, 1, 1));
}

}  // namespace

}  // namespace assay::ops
