#include "references/affine/affine.h"

#include "harness/base/error.h"
#include "references/affine/affine_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const Params& params) {
  try {
    affine(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(AffineParameters, MinusOneInABlockSizeIsTheWholeDim) {
  const Affine checked = affine(affine_params({7, 10}, {-1, 4}));
  EXPECT_THAT(checked.grid.block, ElementsAre(7, 4));
  EXPECT_THAT(checked.grid.counts, ElementsAre(1, 3));
}

TEST(AffineParameters, AnI32HoldsTheRangeOfAnI16) {
  EXPECT_EQ(quant_range(DType::I32).min, -32768);
  EXPECT_EQ(quant_range(DType::I32).max, 32767);
  EXPECT_EQ(quant_range(DType::U8).max, 255);
  Params params = affine_params({4}, {2});
  params.set("quantized", std::string("i32"));
  params.set("quant_max", std::int64_t{32768});
  EXPECT_THAT(refusal(params), HasSubstr("holds -32768 to 32767"));
}

TEST(AffineParameters, ABlockLargerThanItsDimIsRefused) {
  EXPECT_THAT(refusal(affine_params({8, 6}, {2, 7})), HasSubstr("block_size: block_size[1] is 7"));
  EXPECT_THAT(refusal(affine_params({8, 6}, {0, 6})), HasSubstr("block_size: block_size[0] is 0"));
}

TEST(AffineParameters, ABlockOfAnotherRankIsRefused) {
  EXPECT_THAT(refusal(affine_params({8, 6}, {2})), HasSubstr("block_size: block_size has 1 entries"));
}

TEST(AffineParameters, ARangeThatTheTypeCannotHoldIsRefused) {
  Params params = affine_params({4}, {2});
  params.set("quant_max", std::int64_t{128});
  EXPECT_THAT(refusal(params), HasSubstr("quant_max: quant_max is 128"));
  params.set("quant_max", std::int64_t{-128});
  EXPECT_THAT(refusal(params), HasSubstr("must be above quant_min"));
}

TEST(AffineRuns, CoverEveryElementOnceInItsOwnBlock) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Affine checked = affine(random_affine_params(random));
    std::int64_t next = 0;
    for_each_run(checked.grid, 0, row_count(checked.grid), [&](BlockRun run) {
      EXPECT_EQ(run.first, next);
      for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        EXPECT_EQ(run.block, plain_block_of(checked, i)) << to_string(checked.grid.shape) << " element " << i;
      }
      next += run.count;
    });
    EXPECT_EQ(next, numel(checked.grid.shape));
  }
}

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

Expected dequantized(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = dequantize_affine(params, inputs);
  EXPECT_EQ(outputs.size(), 1u);
  return std::move(outputs[0]);
}

/// The formula of one element, written as the header states it.
float plain_element(const Affine& affine, const std::vector<HostTensor>& inputs, std::int64_t index) {
  const auto q = static_cast<std::int32_t>(inputs[0].at(index));
  const std::int64_t block = plain_block_of(affine, index);
  const float scale = inputs[1].as<float>()[block];
  if (affine.domain == ZeroPointDomain::None) return static_cast<float>(q) * scale;
  if (affine.domain == ZeroPointDomain::Int) {
    return static_cast<float>(q - inputs[2].as<std::int32_t>()[block]) * scale;
  }
  const float centred = static_cast<float>(q) - affine.mid();
  const float scaled = centred * scale;
  return scaled + inputs[2].as<float>()[block];
}

template <class Q>
void fill_quantized(HostTensor& q, const Affine& affine, std::mt19937& random) {
  std::uniform_int_distribution<std::int32_t> value(affine.quant_min, affine.quant_max);
  for (Q& element : q.as<Q>()) element = static_cast<Q>(value(random));
}

HostTensor random_quantized(const Affine& affine, std::mt19937& random) {
  HostTensor q(affine.quantized, affine.grid.shape);
  if (affine.quantized == DType::I8) fill_quantized<std::int8_t>(q, affine, random);
  if (affine.quantized == DType::U8) fill_quantized<std::uint8_t>(q, affine, random);
  if (affine.quantized == DType::I32) fill_quantized<std::int32_t>(q, affine, random);
  return q;
}

TEST(DequantizeAffine, AgreesWithThePlainFormulaOnRandomShapesAndBlocks) {
  std::mt19937 random(13);
  for (int round = 0; round < 400; ++round) {
    const Params params = random_affine_params(random);
    const Affine checked = affine(params);
    std::vector<HostTensor> inputs = random_scale_and_zero_point(params, random);
    inputs.insert(inputs.begin(), random_quantized(checked, random));
    const Expected got = dequantized(params, inputs);
    for (std::int64_t i = 0; i < got.values.numel(); ++i) {
      const float plain = plain_element(checked, inputs, i);
      const float want = checked.real == DType::F32 ? plain : to_float(to_half(plain));
      ASSERT_EQ(got.values.at(i), want) << params.canonical() << " element " << i;
    }
  }
}

TEST(DequantizeAffine, IsExactInFloat32AndBoundedByOneUlpInFloat16) {
  std::mt19937 random(14);
  Params params = affine_params({6, 40}, {1, 8});
  std::vector<HostTensor> inputs = random_scale_and_zero_point(params, random);
  inputs.insert(inputs.begin(), random_quantized(affine(params), random));
  EXPECT_TRUE(dequantized(params, inputs).bound.empty());

  params.set("dtype", std::string("f16"));
  const Expected half = dequantized(params, inputs);
  ASSERT_EQ(half.bound.size(), 240u);
  for (std::int64_t i = 0; i < 240; ++i) {
    const Half value = half.values.as<Half>()[i];
    const Half next{static_cast<std::uint16_t>(value.bits + 1)};
    EXPECT_EQ(half.bound[i], std::fabs(to_float(next) - to_float(value))) << i;
  }
}

TEST(DequantizeAffine, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("dequantize_affine");
  EXPECT_EQ(vectors.size(), 65u);
  for (const Golden& golden : vectors) {
    const std::vector<HostTensor> inputs{golden.tensor("q"), golden.tensor("scale"),
                                         golden.tensor("zero_point")};
    const HostTensor want = golden.tensor("y");
    const Params params = params_of(golden, want.dtype(), inputs[0].dtype());
    EXPECT_EQ(compare(dequantized(params, inputs).values, want, nullptr).mismatches, 0) << golden.name;
  }
}

}  // namespace

}  // namespace assay::references
