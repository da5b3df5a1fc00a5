#include "references/relayout/q8ta_dequantize.h"

#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;

Expected dequantized(const HostTensor& x, QParams from, const std::string& dtype) {
  Params params;
  params.set("x", from);
  params.set("dtype", dtype);
  std::vector<Expected> outputs = q8ta_dequantize(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].values.shape(), x.shape());
  return std::move(outputs[0]);
}

HostTensor bytes(const std::vector<int>& values) {
  HostTensor x(DType::I8, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    x.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
  return x;
}

TEST(Q8taDequantize, SubtractsTheZeroPointBeforeItScales) {
  const Expected y = dequantized(bytes({-128, -3, 0, 127}), {0.25F, -3}, "f32");
  EXPECT_TRUE(y.bound.empty());
  EXPECT_THAT(y.values.as<float>(), ElementsAre(-31.25F, 0.0F, 0.75F, 32.5F));
}

TEST(Q8taDequantize, GivesPlusZeroForTheZeroPoint) {
  const Expected y = dequantized(bytes({5}), {0.1F, 5}, "f32");
  EXPECT_EQ(y.values.at(0), 0.0);
  EXPECT_FALSE(std::signbit(y.values.at(0)));
}

TEST(Q8taDequantize, SpansTheWholeDifferenceOfTwoBytes) {
  EXPECT_THAT(dequantized(bytes({127}), {1.0F, -128}, "f32").values.as<float>(), ElementsAre(255.0F));
  EXPECT_THAT(dequantized(bytes({-128}), {1.0F, 127}, "f32").values.as<float>(), ElementsAre(-255.0F));
}

TEST(Q8taDequantize, IsBoundedByOneUlpInFloat16) {
  const Expected y = dequantized(bytes({3, 100, 0, -128}), {0.1F, 0}, "f16");
  EXPECT_EQ(y.values.at(0), to_float(to_half(0.1F * 3.0F)));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-12F, 0x1p-7F, 0x1p-24F, 0x1p-7F));  // of 0.3, 10, 0, -12.8
}

TEST(Q8taDequantize, IsInfiniteBeyondTheHalves) {
  const Expected y = dequantized(bytes({127, -128}), {1000.0F, 0}, "f16");
  EXPECT_EQ(y.values.at(0), INFINITY);
  EXPECT_EQ(y.values.at(1), -INFINITY);
  EXPECT_THAT(y.bound, ElementsAre(0.0F, 0.0F));
}

TEST(Q8taDequantize, GivesTheGoldenVectorsOfDequantizeAffineWithOneBlock) {
  int tried = 0;
  for (const Golden& golden : golden_vectors("dequantize_affine")) {
    const HostTensor scale = golden.tensor("scale");
    const HostTensor q = golden.tensor("q");
    if (scale.numel() != 1 || q.dtype() != DType::I8) continue;
    const QParams from{scale.as<float>()[0], static_cast<std::int32_t>(golden.tensor("zero_point").at(0))};
    EXPECT_EQ(compare(dequantized(q, from, "f32").values, golden.tensor("y"), nullptr).mismatches, 0)
        << golden.name;
    ++tried;
  }
  EXPECT_EQ(tried, 3);  // whole range, narrow, int4 values
}

}  // namespace
}  // namespace assay::references
