#include "references/transformer/rotary_update_cache.h"

#include "harness/base/error.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::HasSubstr;

/// Two batches of two tokens and three heads of five values, of which four turn, from position 1 on of a
/// cache of four rows.
Params params_of(const std::string& layout, const std::string& dtype) {
  Params params;
  params.set("B", std::int64_t{2});
  params.set("S", std::int64_t{2});
  params.set("Hkv", std::int64_t{3});
  params.set("D", std::int64_t{5});
  params.set("pairs", std::string("half_split"));
  params.set("rotary_dim", std::int64_t{4});
  params.set("start_pos", std::int64_t{1});
  params.set("C", std::int64_t{4});
  params.set("positions", std::int64_t{3});
  params.set("layout", layout);
  params.set("dtype", dtype);
  params.set("cache_dtype", std::string("float"));
  return params;
}

std::vector<double> counted(std::int64_t count, double step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(1 + step * static_cast<double>(i));
  return values;
}

std::vector<HostTensor> inputs_of(const std::string& layout, DType dtype) {
  const Shape cache = layout == "bshd" ? Shape{2, 4, 3, 5} : Shape{2, 3, 4, 5};
  return {real_tensor(dtype, {2, 2, 3, 5}, counted(60, 0.125)),
          real_tensor(DType::F32, {3, 2}, counted(6, -0.3)),
          real_tensor(DType::F32, {3, 2}, counted(6, -0.1)), real_tensor(dtype, cache, counted(120, -8))};
}

/// The two ops, one after the other, with what the first leaves rounded to the type of the second.
Expected one_after_the_other(const Params& params, const std::vector<HostTensor>& inputs) {
  Params rotary = params, update = params;
  rotary.set("shape", inputs[0].shape());
  const HostTensor turned =
      rotary_embedding(rotary, std::vector<HostTensor>{inputs[0], inputs[1], inputs[2]})[0].values;
  std::vector<double> values;
  for (std::int64_t i = 0; i < turned.numel(); ++i) values.push_back(turned.at(i));
  const HostTensor stored = real_tensor(inputs[0].dtype(), inputs[0].shape(), values);
  return update_cache(update, std::vector<HostTensor>{stored, inputs[3]})[0];
}

TEST(RotaryUpdateCache, IsARotaryEmbeddingAndThenAnUpdate) {
  for (const char* layout : {"bshd", "bhsd"}) {
    for (const DType dtype : {DType::F32, DType::F16}) {
      const Params params = params_of(layout, std::string(name_of(dtype)));
      const std::vector<HostTensor> inputs = inputs_of(layout, dtype);
      const Expected got = rotary_update_cache(params, inputs)[0];
      const Expected wanted = one_after_the_other(params, inputs);
      EXPECT_TRUE(same_bytes(got.values, wanted.values, 0, 120)) << layout;
      EXPECT_EQ(got.kept, wanted.kept) << layout;
    }
  }
}

TEST(RotaryUpdateCache, BoundsWhatTurnsAndNothingElse) {
  const Expected got = rotary_update_cache(params_of("bshd", "f16"), inputs_of("bshd", DType::F16))[0];
  for (std::size_t i = 0; i < got.kept.size(); ++i) {
    const bool turns = got.kept[i] == 0 && i % 5 < 4;
    EXPECT_EQ(got.bound[i] > 0, turns) << i;
    EXPECT_EQ(got.magnitude[i] > 0, turns) << i;
  }
}

/// The inputs with an int8 cache and its scales.
std::vector<HostTensor> q8_inputs(const std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> all(inputs.begin(), inputs.begin() + 3);
  Shape rows = inputs[3].shape();
  all.emplace_back(DType::I8, rows);
  rows.pop_back();
  all.push_back(real_tensor(DType::F32, rows, counted(24, 1)));
  return all;
}

Params q8_params(const std::string& layout, const std::string& dtype) {
  Params params = params_of(layout, dtype);
  params.set("cache_dtype", std::string("q8"));
  return params;
}

/// Values of f16 turn to float32 values, which become codes as update_cache makes them.
TEST(RotaryUpdateCache, MakesTheCodesOfWhatTurned) {
  for (const char* layout : {"bshd", "bhsd"}) {
    for (const DType dtype : {DType::F32, DType::F16}) {
      const Params params = q8_params(layout, std::string(name_of(dtype)));
      const std::vector<HostTensor> inputs = q8_inputs(inputs_of(layout, dtype));
      Params rotary = params;
      rotary.set("shape", inputs[0].shape());
      rotary.set("dtype", std::string("f32"));
      const HostTensor turned = rotary_embedding(rotary, std::span(inputs).first(3))[0].values;
      std::vector<double> values;
      for (std::int64_t i = 0; i < turned.numel(); ++i) values.push_back(turned.at(i));
      const HostTensor single = real_tensor(DType::F32, turned.shape(), values);
      Params update = params;
      update.set("dtype", std::string("f32"));
      const std::vector<Expected> wanted =
          update_cache(update, std::vector<HostTensor>{single, inputs[3], inputs[4]});
      const std::vector<Expected> got = rotary_update_cache(params, inputs);
      ASSERT_EQ(got.size(), 2U);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(same_bytes(got[i].values, wanted[i].values, 0, got[i].values.numel())) << layout << i;
        EXPECT_EQ(got[i].kept, wanted[i].kept) << layout << i;
      }
    }
  }
}

/// One row of an int8 cache of the head (a, b, 1), whose pair turns by an eighth of a circle.
std::vector<Expected> q8_row(float a, float b) {
  Params params = q8_params("bshd", "f32");
  for (const char* name : {"B", "S", "Hkv", "C", "positions"}) params.set(name, std::int64_t{1});
  params.set("start_pos", std::int64_t{0});
  params.set("D", std::int64_t{3});
  params.set("rotary_dim", std::int64_t{2});
  const double cosine = 0.70703125;  // exact in float32, as its products are
  return rotary_update_cache(params, std::vector<HostTensor>{real_tensor(DType::F32, {1, 1, 1, 3}, {a, b, 1}),
                                                             real_tensor(DType::F32, {1, 1}, {cosine}),
                                                             real_tensor(DType::F32, {1, 1}, {cosine}),
                                                             HostTensor(DType::I8, {1, 1, 1, 3}),
                                                             real_tensor(DType::F32, {1, 1, 1}, {5})});
}

TEST(RotaryUpdateCache, ACodeIsOffByItsOwnErrorAndItsShareOfTheScales) {
  const std::vector<Expected> got = q8_row(2, 2);
  const Expected& codes = got[0];
  const double scale = 2 * 2 * 0.70703125 / 127;
  EXPECT_EQ(codes.values.at(0), 0);
  EXPECT_EQ(codes.values.at(1), 127);
  EXPECT_EQ(codes.values.at(2), std::nearbyint(1 / scale));
  EXPECT_NEAR(codes.unrounded[2], 1 / scale, 1e-5);
  EXPECT_NEAR(codes.magnitude[0], 127, 1e-3)
      << "two products of half the largest value, whose difference is 0";
  EXPECT_NEAR(codes.magnitude[1], 127 + 127 * 5, 1e-3) << "its own, the scale's, and eight roundings";
  EXPECT_NEAR(codes.magnitude[2], 5 / scale, 1e-3) << "it did not turn";
  EXPECT_FLOAT_EQ(got[1].values.as<float>()[0], static_cast<float>(scale));
  EXPECT_NEAR(got[1].magnitude[0], 3 * scale, 1e-6);
}

TEST(RotaryUpdateCache, NanIsCodeZeroAndNoScale) {
  const std::vector<Expected> got = q8_row(std::numeric_limits<float>::quiet_NaN(), 2);
  EXPECT_THAT(got[0].magnitude, testing::ElementsAre(0, 0, testing::Gt(0)));
  EXPECT_EQ(got[0].values.at(0), 0);
  EXPECT_EQ(got[0].values.at(1), 0);
  EXPECT_EQ(got[0].values.at(2), 127);
  EXPECT_EQ(got[1].values.as<float>()[0], 1.0F / 127);
}

TEST(RotaryUpdateCache, RefusesTokensBeyondTheCacheOrTheTables) {
  Params params = params_of("bshd", "f32");
  params.set("C", std::int64_t{2});
  try {
    rotary_update_cache_params(params);
    FAIL() << "no error";
  } catch (const ParameterError& error) {
    EXPECT_THAT(error.what(), HasSubstr("C is 2, but must be at least 3"));
  }
  params = params_of("bshd", "f32");
  params.set("positions", std::int64_t{2});
  EXPECT_THROW(rotary_update_cache_params(params), ParameterError);
}

}  // namespace
}  // namespace assay::references
