#include "references/transformer/update_cache.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

/// `shape`: of x.
Params update_of(const Shape& shape, std::int64_t capacity, std::int64_t start,
                 const std::string& layout = "bshd", const std::string& dtype = "f32",
                 const std::string& cache_dtype = "float") {
  Params params;
  for (std::size_t i = 0; i < shape.size(); ++i) params.set(std::array{"B", "S", "Hkv", "D"}.at(i), shape[i]);
  params.set("C", capacity);
  params.set("start_pos", start);
  params.set("layout", layout);
  params.set("dtype", dtype);
  params.set("cache_dtype", cache_dtype);
  return params;
}

TEST(UpdateCache, GivesTheGoldenVectors) {
  int compared = 0;
  for (const Golden& golden : golden_vectors("update_cache")) {
    std::vector<HostTensor> inputs{golden.tensor("x"), golden.tensor("cache_before")};
    if (golden.has("scale_before")) inputs.push_back(golden.tensor("scale_before"));
    const Params params =
        update_of(inputs[0].shape(), golden.params.at("C"), golden.params.at("start_pos"), "bshd",
                  golden.params.at("dtype"), golden.has("scale_before") ? "q8" : "float");
    const std::vector<Expected> got = update_cache(params, inputs);
    ASSERT_EQ(got.size(), inputs.size() - 1) << golden.name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const HostTensor want = golden.tensor(i == 0 ? "cache" : "scale");
      ASSERT_EQ(got[i].values.shape(), want.shape());
      EXPECT_TRUE(same_bytes(got[i].values, want, 0, want.numel())) << golden.name << " " << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

/// Two tokens of two heads of one value, from position 1 on of a cache of 4.
Expected two_tokens(const std::string& layout) {
  const Shape before = layout == "bshd" ? Shape{1, 4, 2, 1} : Shape{1, 2, 4, 1};
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 2, 2, 1}, {11, 12, 21, 22}),
                                       real_tensor(DType::F32, before, {1, 2, 3, 4, 5, 6, 7, 8})};
  return update_cache(update_of({1, 2, 2, 1}, 4, 1, layout), inputs)[0];
}

TEST(UpdateCache, WritesTheTokensRowsAndSaysWhatItKeeps) {
  const Expected by_position = two_tokens("bshd");
  EXPECT_THAT(by_position.values.as<float>(), ElementsAre(1, 2, 11, 12, 21, 22, 7, 8));
  EXPECT_THAT(by_position.kept, ElementsAre(1, 1, 0, 0, 0, 0, 1, 1));
  const Expected by_head = two_tokens("bhsd");
  EXPECT_THAT(by_head.values.as<float>(), ElementsAre(1, 11, 21, 4, 5, 12, 22, 8));
  EXPECT_THAT(by_head.kept, ElementsAre(1, 0, 0, 1, 1, 0, 0, 1));
}

/// One row of three values, the second of two rows of a cache of zeros.
std::vector<Expected> one_row(const std::vector<double>& x, DType dtype = DType::F32) {
  const std::vector<HostTensor> inputs{real_tensor(dtype, {1, 1, 1, 3}, x),
                                       HostTensor(DType::I8, {1, 2, 1, 3}),
                                       HostTensor(DType::F32, {1, 2, 1})};
  return update_cache(update_of({1, 1, 1, 3}, 2, 1, "bshd", std::string(name_of(dtype)), "q8"), inputs);
}

TEST(UpdateCache, QuantizesRowsByTheirLargestMagnitude) {
  const std::vector<Expected> got = one_row({-254, 3, 5});
  EXPECT_THAT(got[0].values.as<std::int8_t>(), ElementsAre(0, 0, 0, -127, 2, 2)) << "ties go to even";
  EXPECT_THAT(got[1].values.as<float>(), ElementsAre(0, 2));
  EXPECT_THAT(got[0].kept, ElementsAre(1, 1, 1, 0, 0, 0));
  EXPECT_THAT(got[1].kept, ElementsAre(1, 0));
  EXPECT_THAT(one_row({1, 0.5, -0.25}, DType::F16)[0].values.as<std::int8_t>(),
              ElementsAre(0, 0, 0, 127, 64, -32));
}

TEST(UpdateCache, ARowOfZerosHasTheScaleOne) {
  EXPECT_THAT(one_row({0, -0.0, 0})[1].values.as<float>(), ElementsAre(0, 1));
  EXPECT_THAT(one_row({0x1p-101, 0, 0})[1].values.as<float>(), ElementsAre(0, 1)) << "taken for zeros";
  EXPECT_THAT(one_row({0x1p-100, 0, 0})[1].values.as<float>(), ElementsAre(0, 0x1p-100F / 127));
}

TEST(UpdateCache, ANaNBecomesZeroAndIsNotTheLargest) {
  const std::vector<Expected> got = one_row({std::numeric_limits<double>::quiet_NaN(), 127, -1});
  EXPECT_THAT(got[0].values.as<std::int8_t>(), ElementsAre(0, 0, 0, 0, 127, -1));
  EXPECT_THAT(got[1].values.as<float>(), ElementsAre(0, 1));
}

std::string refusal_of(const Params& params) {
  try {
    update_cache_params(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(UpdateCache, RefusesTokensBeyondTheCache) {
  EXPECT_EQ(refusal_of(update_of({1, 3, 1, 8}, 8, 5)), "accepted");
  EXPECT_THAT(refusal_of(update_of({1, 3, 1, 8}, 8, 6)),
              HasSubstr("C: C is 8, but must be at least 9, the sum of start_pos and the 3 tokens"));
}

}  // namespace
}  // namespace assay::references
