#include "references/choose_qparams/choose_qparams.h"

#include "harness/base/error.h"
#include "harness/tensor/fill/fill.h"
#include "references/affine/affine.h"
#include "references/affine/affine_test_support.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

using testing::HasSubstr;

constexpr float positive_infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

HostTensor row(const std::vector<float>& values) {
  HostTensor x(DType::F32, {1, static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.as<float>().begin());
  return x;
}

QParams chosen(QParamsRule rule, const std::vector<float>& values, QParamsLimits limits = {}) {
  const std::vector<HostTensor> inputs{row(values)};
  const ChooseQParams op{block_grid(inputs[0].shape(), {1, -1}), DType::F32, rule, limits};
  const std::vector<Expected> outputs = choose_qparams(op, inputs);
  EXPECT_TRUE(outputs[0].bound.empty());
  EXPECT_TRUE(outputs[1].bound.empty());
  return {outputs[0].values.as<float>()[0], outputs[1].values.as<std::int32_t>()[0]};
}

TEST(ChooseQParams, AsymmetricSpansTheValuesAndZero) {
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {-1, 3}), (QParams{4.0F / 255.0F, -128 + 64}));
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {1, 3}), (QParams{3.0F / 255.0F, -128}));
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {-3, -1}), (QParams{3.0F / 255.0F, 127}));
}

TEST(ChooseQParams, SymmetricTakesTheLargerEndAndTheMiddle) {
  EXPECT_EQ(chosen(QParamsRule::Symmetric, {-1, 3}), (QParams{3.0F / 127.5F, 0}));
  EXPECT_EQ(chosen(QParamsRule::Symmetric, {-5, 3}, {0, 255}), (QParams{5.0F / 127.5F, 128}));
  EXPECT_EQ(middle({-20, 0}), -9);  // towards zero
}

TEST(ChooseQParams, NoClippingErrTakesTheEndThatNeedsMore) {
  EXPECT_EQ(chosen(QParamsRule::SymmetricNoClippingErr, {-4, 3}), (QParams{4.0F / 128.0F, 0}));
  EXPECT_EQ(chosen(QParamsRule::SymmetricNoClippingErr, {-3.01F, 3}), (QParams{3.0F / 127.0F, 0}));
}

TEST(ChooseQParams, BlocksOfZerosHaveTheLeastScale) {
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {0, 0}), (QParams{0x1p-23F, -128}));
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {0, 0}, {-8, 7, 0.5F}), (QParams{0.5F, -8}));
  EXPECT_EQ(chosen(QParamsRule::Symmetric, {0, 0}), (QParams{0x1p-23F, 0}));
  EXPECT_EQ(chosen(QParamsRule::PerToken, {0, 0}), (QParams{0x1p-23F, 127}));
  EXPECT_EQ(chosen(QParamsRule::PerRow, {0, 0}), (QParams{0.1F, 127}));
}

TEST(ChooseQParams, ValuesThatAreNotFiniteAreSkipped) {
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {positive_infinity, -1, not_a_number, 3, -positive_infinity}),
            chosen(QParamsRule::Asymmetric, {-1, 3}));
  EXPECT_EQ(chosen(QParamsRule::Asymmetric, {not_a_number, positive_infinity}), (QParams{0x1p-23F, -128}));
}

TEST(ChooseQParams, RowsOfTinyValuesHaveTheirScaleRaised) {
  EXPECT_EQ(chosen(QParamsRule::PerRow, {0, 1e-6F}), (QParams{6.1e-5F, -128}));
  EXPECT_EQ(chosen(QParamsRule::PerRow, {0, -1e-6F}), (QParams{6.1e-5F, 127}));
  EXPECT_EQ(chosen(QParamsRule::PerRow, {-1e-6F, 1e-6F}).scale, 6.1e-5F);
  EXPECT_EQ(chosen(QParamsRule::PerRow, {1e-38F, 0}), (QParams{0.1F, 127}));  // its scale counts as zero
}

void expect_golden(const Golden& golden, const ChooseQParams& op) {
  const std::vector<HostTensor> inputs{golden.tensor("x")};
  ASSERT_EQ(inputs[0].dtype(), op.real) << golden.name;
  const std::vector<Expected> outputs = choose_qparams(op, inputs);
  const HostTensor scale = golden.tensor("scale");
  const HostTensor zero_point = golden.tensor("zero_point");
  ASSERT_EQ(scale.numel(), outputs[0].values.numel()) << golden.name;
  for (std::int64_t i = 0; i < scale.numel(); ++i) {
    ASSERT_EQ(outputs[0].values.at(i), scale.at(i)) << golden.name << " scale " << i;
    ASSERT_EQ(outputs[1].values.at(i), zero_point.at(i)) << golden.name << " zero point " << i;
  }
}

/// The parameters that the golden vectors of all ops of the family have.
Params golden_params(const Golden& golden) {
  Params params;
  const bool is_matrix = golden.params.contains("H");
  params.set("shape", is_matrix ? Shape{golden.params.at("H"), golden.params.at("W")}
                                : golden.params.at("shape").get<Shape>());
  params.set("dtype", golden.params.value("dtype", std::string("f32")));
  params.set("quantized", std::string("i32"));
  params.set("quant_min", golden.params.value("quant_min", std::int64_t{-128}));
  params.set("quant_max", golden.params.value("quant_max", std::int64_t{127}));
  params.set("eps", golden.params.value("eps", 0x1p-23));
  return params;
}

TEST(ChooseQParams, AffineGivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("choose_qparams_affine");
  EXPECT_EQ(vectors.size(), 314u);
  for (const Golden& golden : vectors) {
    Params params = golden_params(golden);
    params.set("block_size", golden.params.at("block_size").get<Shape>());
    params.set("mapping", golden.params.at("mapping").get<std::string>());
    expect_golden(golden, choose_affine(params));
  }
}

TEST(ChooseQParams, TensorGivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("choose_qparams_tensor");
  EXPECT_EQ(vectors.size(), 5u);
  for (const Golden& golden : vectors) expect_golden(golden, choose_tensor(golden_params(golden)));
}

TEST(ChooseQParams, PerTokenGivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("choose_qparams_per_token_asymmetric");
  EXPECT_EQ(vectors.size(), 5u);
  for (const Golden& golden : vectors) expect_golden(golden, choose_per_token(golden_params(golden)));
}

TEST(ChooseQParams, PerRowGivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("choose_qparams_per_row");
  EXPECT_EQ(vectors.size(), 6u);
  for (const Golden& golden : vectors) expect_golden(golden, choose_per_row(golden_params(golden)));
}

/// The extremes of each block, found element by element.
TEST(ChooseQParams, FindsTheRangeOfEveryBlockOfRandomShapes) {
  std::mt19937 random(21);
  for (int round = 0; round < 200; ++round) {
    const Affine affine_op = affine(random_affine_params(random));
    HostTensor x(DType::F32, affine_op.grid.shape);
    for (float& value : x.as<float>()) value = std::normal_distribution<float>(0, 2)(random);
    std::vector<float> low(static_cast<std::size_t>(numel(affine_op.grid.counts))), high = low;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const auto block = static_cast<std::size_t>(plain_block_of(affine_op, i));
      low[block] = std::min(low[block], x.as<float>()[static_cast<std::size_t>(i)]);
      high[block] = std::max(high[block], x.as<float>()[static_cast<std::size_t>(i)]);
    }
    const ChooseQParams op{affine_op.grid, DType::F32, QParamsRule::Asymmetric, {}};
    const std::vector<Expected> outputs = choose_qparams(op, std::vector<HostTensor>{x});
    for (std::size_t block = 0; block < low.size(); ++block) {
      const QParams want = choose_qparams(op.rule, op.limits, low[block], high[block]);
      ASSERT_EQ(outputs[0].values.as<float>()[block], want.scale);
      ASSERT_EQ(outputs[1].values.as<std::int32_t>()[block], want.zero_point);
    }
  }
}

TEST(ChooseQParams, NoClippingErrNeedsARangeOnBothSidesOfZero) {
  Params params = affine_params({8}, {4});
  params.set("quantized", std::string("u8"));
  params.set("quant_min", std::int64_t{0});
  params.set("quant_max", std::int64_t{255});
  params.set("eps", 0x1p-23);
  params.set("mapping", std::string("symmetric_no_clipping_err"));
  try {
    choose_affine(params);
    FAIL() << "accepted";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "mapping");
    EXPECT_THAT(error.what(), HasSubstr("they are 0 and 255"));
  }
}

TEST(QuantizeDynamic, IsChooseQParamsThenQuantizeAffinePerToken) {
  Params params = affine_params({3, 40}, {1, -1});
  params.set("mapping", std::string("asymmetric"));
  params.set("eps", 0x1p-23);
  const HostTensor x = make_filled(DType::F32, {3, 40}, {.kind = FillKind::Normal}, {}, {1, 2, 0});
  const std::vector<Expected> outputs = quantize_dynamic(params, std::vector<HostTensor>{x});
  ASSERT_EQ(outputs.size(), 3u);
  for (std::int64_t token = 0; token < 3; ++token) {
    const float scale = outputs[0].values.as<float>()[static_cast<std::size_t>(token)];
    double largest_error = 0, lowest = 127, highest = -128;
    for (std::int64_t i = token * 40; i < token * 40 + 40; ++i) {
      const double integer = outputs[2].values.at(i) - outputs[1].values.at(token);
      largest_error = std::max(largest_error, std::abs(integer * scale - x.at(i)));
      lowest = std::min(lowest, outputs[2].values.at(i));
      highest = std::max(highest, outputs[2].values.at(i));
    }
    EXPECT_LE(largest_error, scale);   // half a step, and another half from rounding the zero point
    EXPECT_GE(highest - lowest, 254);  // the range is used
  }
}

}  // namespace
}  // namespace assay::references
