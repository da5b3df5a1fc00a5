#include "references/affine/quantize_affine.h"

#include "references/affine/affine_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

HostTensor quantized(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = quantize_affine(params, inputs);
  EXPECT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs[0].values);
}

float real_at(const HostTensor& tensor, std::int64_t index) {
  return static_cast<float>(tensor.at(index));  // f16 and f32 values are exact in double
}

/// The formula of one element, written as the header states it.
std::int32_t plain_quantized(const Affine& affine, const std::vector<HostTensor>& inputs,
                             std::int64_t index) {
  const float x = real_at(inputs[0], index);
  const std::int64_t block = plain_block_of(affine, index);
  const float scale = inputs[1].as<float>()[block];
  float value = 0;
  if (affine.domain == ZeroPointDomain::Float) {
    const float mid = affine.mid();
    const float half_range = scale * mid;
    const float x_min = inputs[2].as<float>()[block] - half_range;
    const float shifted = x - x_min;
    const float quotient = shifted / scale;
    value = std::nearbyint(std::isnan(quotient) ? mid : quotient);
  } else {
    const float zero_point = affine.domain == ZeroPointDomain::Int
                                 ? static_cast<float>(inputs[2].as<std::int32_t>()[block])
                                 : 0.0f;
    const float inverse = 1.0f / scale;
    const float scaled = x * inverse;
    value = std::isnan(scaled) ? zero_point : std::nearbyint(scaled) + zero_point;
  }
  value = std::clamp(value, static_cast<float>(affine.quant_min), static_cast<float>(affine.quant_max));
  return static_cast<std::int32_t>(value);
}

/// Values that reach every branch: ordinary, ties, far out of range, infinite, NaN, tiny.
float interesting(std::mt19937& random) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::uniform_int_distribution<int> kind(0, 9);
  switch (kind(random)) {
    case 0:
      return std::bit_cast<float>(static_cast<std::uint32_t>(random()));  // any bits
    case 1:
      return infinity;
    case 2:
      return -infinity;
    case 3:
      return std::numeric_limits<float>::quiet_NaN();
    case 4:
      return static_cast<float>(std::uniform_int_distribution<int>(-70000, 70000)(random)) * 0.03125f;
    default:
      return std::normal_distribution<float>(0, 4)(random);
  }
}

HostTensor interesting_tensor(const Affine& affine, std::mt19937& random) {
  HostTensor x(affine.real, affine.grid.shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const float value = interesting(random);
    if (affine.real == DType::F32) {
      x.as<float>()[i] = value;
    } else {
      x.as<Half>()[i] = to_half(value);
    }
  }
  return x;
}

TEST(QuantizeAffine, AgreesWithThePlainFormulaOnRandomShapesBlocksAndValues) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    const Params params = random_affine_params(random);
    const Affine checked = affine(params);
    std::vector<HostTensor> inputs = random_scale_and_zero_point(params, random);
    inputs.insert(inputs.begin(), interesting_tensor(checked, random));
    const HostTensor got = quantized(params, inputs);
    for (std::int64_t i = 0; i < got.numel(); ++i) {
      ASSERT_EQ(got.at(i), plain_quantized(checked, inputs, i))
          << params.canonical() << " element " << i << " x " << real_at(inputs[0], i);
    }
  }
}

TEST(QuantizeAffine, AgreesWithThePlainFormulaOnRowsLongEnoughForThreadsAndVectors) {
  std::mt19937 random(12);
  const Params params = affine_params({70, 1030}, {1, 512});
  std::vector<HostTensor> inputs = random_scale_and_zero_point(params, random);
  const Affine checked = affine(params);
  inputs.insert(inputs.begin(), interesting_tensor(checked, random));
  const HostTensor got = quantized(params, inputs);
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    ASSERT_EQ(got.at(i), plain_quantized(checked, inputs, i)) << i;
  }
}

TEST(QuantizeAffine, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("quantize_affine");
  EXPECT_EQ(vectors.size(), 121u);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    std::vector<HostTensor> inputs{golden.tensor("x"), golden.tensor("scale")};
    if (golden.has("zero_point")) inputs.push_back(golden.tensor("zero_point"));
    const HostTensor want = golden.tensor("q");
    const Params params = params_of(golden, inputs[0].dtype(), want.dtype());
    ASSERT_EQ(inputs.size(), params.choice("zero_point_domain") == "none" ? 2u : 3u) << golden.name;
    HostTensor pre;
    if (golden.has("pre")) pre = golden.tensor("pre");
    const GoldenMatch match = compare(quantized(params, inputs), want, golden.has("pre") ? &pre : nullptr);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  EXPECT_EQ(flips, 0);
}

}  // namespace
}  // namespace assay::references
