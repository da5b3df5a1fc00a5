#include "references/transformer/rotary_update_cache.h"

#include "harness/base/error.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  update.set("cache_dtype", std::string("float"));
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
