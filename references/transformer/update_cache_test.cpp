#include "references/transformer/update_cache.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

Params update_of(const Shape& shape, std::int64_t capacity, std::int64_t start,
                 const std::string& layout = "bshd", const std::string& dtype = "f32") {
  Params params;
  params.set("shape", shape);
  params.set("dtype", dtype);
  params.set("capacity", capacity);
  params.set("start_pos", start);
  params.set("layout", layout);
  return params;
}

TEST(UpdateCache, GivesTheGoldenVectors) {
  int compared = 0;
  for (const Golden& golden : golden_vectors("update_cache")) {
    if (golden.params.contains("cache")) continue;  // q8
    const std::vector<HostTensor> inputs{golden.tensor("x"), golden.tensor("cache_before")};
    const Params params = update_of(inputs[0].shape(), golden.params.at("C"), golden.params.at("start_pos"),
                                    "bshd", golden.params.at("dtype"));
    const std::vector<Expected> got = update_cache(params, inputs);
    const HostTensor want = golden.tensor("cache");
    ASSERT_EQ(got[0].values.shape(), want.shape());
    EXPECT_TRUE(same_bytes(got[0].values, want, 0, want.numel())) << golden.name;
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

/// Two tokens of two heads of one value, from position 1 on of a cache of 4.
Expected two_tokens(const std::string& layout) {
  const Shape before = layout == "bshd" ? Shape{1, 4, 2, 1} : Shape{1, 2, 4, 1};
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 2, 2, 1}, {11, 12, 21, 22}),
                                       real_tensor(DType::F32, before, {1, 2, 3, 4, 5, 6, 7, 8})};
  return update_cache(update_of({1, 2, 2, 1}, 4, 1, layout), inputs)[0];
}

TEST(UpdateCache, WritesTheTokensPositionsAndSaysWhatItKeeps) {
  const Expected by_position = two_tokens("bshd");
  EXPECT_THAT(by_position.values.as<float>(), ElementsAre(1, 2, 11, 12, 21, 22, 7, 8));
  EXPECT_THAT(by_position.kept, ElementsAre(1, 1, 0, 0, 0, 0, 1, 1));
  const Expected by_head = two_tokens("bhsd");
  EXPECT_THAT(by_head.values.as<float>(), ElementsAre(1, 11, 21, 4, 5, 12, 22, 8));
  EXPECT_THAT(by_head.kept, ElementsAre(1, 0, 0, 1, 1, 0, 0, 1));
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
              HasSubstr("start_pos: start_pos is 6, but must be at most 5: 3 tokens"));
  EXPECT_THAT(refusal_of(update_of({1, 3, 1, 8}, 2, 0)), HasSubstr("the capacity 2"));
}

}  // namespace
}  // namespace assay::references
