#include "references/embedding/embedding_q4gsw.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay::references {
namespace {

using namespace test;

using testing::HasSubstr;

Params table_params(const Shape& indices, std::int64_t vocab, std::int64_t dim, std::int64_t group_size,
                    const std::string& dtype = "f32") {
  Params params;
  params.set("indices", indices);
  params.set("vocab", vocab);
  params.set("dim", dim);
  params.set("group_size", group_size);
  params.set("dtype", dtype);
  return params;
}

std::vector<HostTensor> random_inputs(const Params& params, std::mt19937& random) {
  const EmbeddingQ4gsw table = embedding_q4gsw_params(params);
  std::vector<HostTensor> inputs{HostTensor(DType::U8, table.w_shape()),
                                 HostTensor(DType::F32, table.scale_shape()),
                                 HostTensor(DType::I32, table.indices)};
  for (std::uint8_t& byte : inputs[0].as<std::uint8_t>()) byte = static_cast<std::uint8_t>(random());
  std::uniform_real_distribution<float> scale(0x1p-8f, 0x1p-2f);
  for (float& value : inputs[1].as<float>()) value = scale(random);
  std::uniform_int_distribution<std::int32_t> row(0, static_cast<std::int32_t>(table.vocab) - 1);
  for (std::int32_t& index : inputs[2].as<std::int32_t>()) index = row(random);
  return inputs;
}

/// The formula of one element, written as the header states it, over coordinates of y.
float plain_element(const EmbeddingQ4gsw& table, const std::vector<HostTensor>& inputs,
                    std::int64_t element) {
  const std::int64_t d = coordinates(table.y_shape(), element).back();
  const auto v = static_cast<std::int64_t>(inputs[2].at(element / table.dim));
  const auto byte = static_cast<int>(inputs[0].at(v * (table.dim / 2) + d / 2));
  const int nibble = d % 2 == 0 ? byte / 16 : byte % 16;
  const auto scale =
      static_cast<float>(inputs[1].at(v * (table.dim / table.group_size) + d / table.group_size));
  return scale * static_cast<float>(nibble - 8);
}

TEST(EmbeddingQ4gsw, AgreesWithThePlainFormula) {
  std::mt19937 random(41);
  for (const Params& params :
       {table_params({7}, 5, 8, 8), table_params({2, 3}, 9, 96, 32), table_params({2, 3, 4}, 300, 192, 96),
        table_params({1}, 1, 64, 64), table_params({50}, 12, 24, 8, "f16")}) {
    const EmbeddingQ4gsw table = embedding_q4gsw_params(params);
    const std::vector<HostTensor> inputs = random_inputs(params, random);
    const std::vector<Expected> got = embedding_q4gsw(params, inputs);
    ASSERT_EQ(got[0].values.shape(), table.y_shape());
    for (std::int64_t i = 0; i < got[0].values.numel(); ++i) {
      const float plain = plain_element(table, inputs, i);
      const float want = table.dtype == DType::F32 ? plain : to_float(to_half(plain));
      ASSERT_EQ(got[0].values.at(i), want) << params.canonical() << " element " << i;
    }
  }
}

TEST(EmbeddingQ4gsw, TakesTheHighNibbleOfAByteFirst) {
  const Params params = table_params({1}, 1, 8, 8);
  std::vector<HostTensor> inputs{HostTensor(DType::U8, {1, 4}), HostTensor(DType::F32, {1, 1}),
                                 HostTensor(DType::I32, {1})};
  inputs[0].as<std::uint8_t>()[0] = 0xF0;
  inputs[0].as<std::uint8_t>()[3] = 0x9A;
  inputs[1].as<float>()[0] = 0.5f;
  const std::vector<Expected> y = embedding_q4gsw(params, inputs);
  EXPECT_THAT(y[0].values.as<float>(), testing::ElementsAre(3.5f, -4, -4, -4, -4, -4, 0.5f, 1));
}

TEST(EmbeddingQ4gsw, IsExactInFloat32AndBoundedByOneUlpInFloat16) {
  std::mt19937 random(42);
  const Params params = table_params({3}, 4, 16, 8);
  EXPECT_TRUE(embedding_q4gsw(params, random_inputs(params, random))[0].bound.empty());
  const Params half_params = table_params({3}, 4, 16, 8, "f16");
  const Expected half = embedding_q4gsw(half_params, random_inputs(half_params, random))[0];
  ASSERT_EQ(half.bound.size(), 48u);
  for (std::int64_t i = 0; i < 48; ++i) {
    const Half value = half.values.as<Half>()[i];
    const Half next{static_cast<std::uint16_t>(value.bits + 1)};
    EXPECT_EQ(half.bound[i], std::fabs(to_float(next) - to_float(value))) << i;
  }
}

TEST(EmbeddingQ4gsw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("embedding_q4gsw");
  EXPECT_EQ(vectors.size(), 3u);
  for (const Golden& golden : vectors) {
    const std::vector<HostTensor> inputs{golden.tensor("w"), golden.tensor("w_scale"),
                                         golden.tensor("indices")};
    const Params params = table_params(inputs[2].shape(), golden.params.at("V"), golden.params.at("D"),
                                       golden.params.at("group_size"));
    const std::vector<Expected> got = embedding_q4gsw(params, inputs);
    EXPECT_EQ(compare(got[0].values, golden.tensor("y"), nullptr).mismatches, 0) << golden.name;
  }
}

std::string embedding_refusal(const Params& params) {
  try {
    embedding_q4gsw_params(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(EmbeddingQ4gsw, RefusesGroupsThatShareAWordOrDoNotFillARow) {
  EXPECT_THAT(embedding_refusal(table_params({1}, 4, 24, 12)), HasSubstr("group_size: group_size is 12"));
  EXPECT_THAT(embedding_refusal(table_params({1}, 4, 40, 16)), HasSubstr("dim: dim is 40"));
  EXPECT_EQ(embedding_refusal(table_params({1}, 4, 40, 8)), "accepted");
}

}  // namespace
}  // namespace assay::references
