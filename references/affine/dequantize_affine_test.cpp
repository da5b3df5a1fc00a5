#include "references/affine/dequantize_affine.h"

#include "references/affine/affine_test_support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::references {
namespace {

using namespace test;

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
