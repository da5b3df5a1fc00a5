#include "harness/base/error.h"
#include "ops/affine/affine_points_test_support.h"
#include "ops/registry.h"

// Tests ops whose name says which elements share a scale: the affine kernels with a derived block size.

namespace assay::ops {
namespace {

using namespace test;

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
