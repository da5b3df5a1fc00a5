#include "harness/tensor/fill/fill_rules.h"
#include "harness/tensor/fill/fill_test_support.h"
#include "harness/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

using namespace test;

using testing::ElementsAre;

TEST(FillTest, NamesParseBackToTheirFill) {
  for (const FillKind kind : all_kinds) EXPECT_EQ(parse_fill(name_of(kind)), kind);
  EXPECT_EQ(name_of(FillKind::Normal), "normal");
  EXPECT_EQ(name_of(FillKind::Npy), "npy");
  EXPECT_EQ(parse_fill("gauss"), std::nullopt);
}

TEST(FillTest, ElementsComputedOneByOneAreThoseOfTheWholeTensor) {
  const Shape shape{3, 100003};  // enough for several threads, and a tail
  for (const FillKind kind : all_kinds) {
    const HostTensor whole = make_filled(DType::F32, shape, {.kind = kind}, {}, key);
    const RandomBits random(key);
    const FillRequest request{
        DType::F32, kind, {}, {}, whole.numel(), random.pick(whole.numel()), mixed_run(shape), row_of(shape)};
    const Rule<float> rule = float_data_rule(request);
    for (std::int64_t index = 0; index < whole.numel(); index += 997) {
      const std::int64_t first = index / 4 * 4;
      std::array<Bits, 4> bits;
      std::array<float, 4> four;
      random.read(first, bits);
      rule(bits, first, four);
      const float expected = four[static_cast<std::size_t>(index - first)];
      const float got = whole.as<float>()[static_cast<std::size_t>(index)];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(expected)) << name_of(kind);
    }
  }
}

/// Returns the first four elements' bits. A change of the mapping would change all published input hashes.
std::vector<std::uint32_t> first_bits(FillKind kind, FillRole role = FillRole::Data) {
  const HostTensor tensor = make_filled(DType::F32, {4}, {.kind = kind}, {.role = role}, key);
  std::vector<std::uint32_t> bits;
  for (const float value : tensor.as<float>()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

TEST(FillTest, FloatsHaveTheBitsThatTheyAlwaysHad) {
  EXPECT_THAT(first_bits(FillKind::Normal), ElementsAre(0xbfc35b6fU, 0xbfb7d69bU, 0xbe47c833U, 0xbf3425c5U));
  EXPECT_THAT(first_bits(FillKind::Uniform), ElementsAre(0xbf69098cU, 0x3ee78a1cU, 0xbf7748b2U, 0x3f07c48aU));
  EXPECT_THAT(first_bits(FillKind::Ties), ElementsAre(0x3f200000U, 0xc08c0000U, 0x3ea00000U, 0xc0740000U));
  EXPECT_THAT(first_bits(FillKind::Saturate),
              ElementsAre(0x4440d9d8U, 0xc41b599eU, 0x448ee2f1U, 0x448f8dddU));
  EXPECT_THAT(first_bits(FillKind::Wide), ElementsAre(0xc0a10ea5U, 0xba333607U, 0xc03a385aU, 0xbafd8f98U));
  EXPECT_THAT(first_bits(FillKind::Outlier), ElementsAre(0xbd9c4926U, 0xbd931216U, 0xbc1fd35dU, 0xbd101e37U));
  EXPECT_THAT(first_bits(FillKind::Normal, FillRole::Scale),
              ElementsAre(0x3d24d087U, 0x3c1a199bU, 0x3d3f5d1cU, 0x3c3fbec8U));
  EXPECT_THAT(first_bits(FillKind::Ties, FillRole::Scale),
              ElementsAre(0x3e000000U, 0x3d800000U, 0x3e000000U, 0x3d800000U));
  EXPECT_THAT(first_bits(FillKind::Wide, FillRole::Scale),
              ElementsAre(0x3da4d087U, 0x3b1a199bU, 0x3dbf5d1cU, 0x3bbfbec8U));
}

TEST(FillTest, IntegersHaveTheValuesThatTheyAlwaysHad) {
  const auto first = [](FillKind kind) { return values(DType::I8, kind, {}, 8); };
  EXPECT_THAT(first(FillKind::Normal), ElementsAre(-66, -62, -9, -31, 3, -63, 62, 84));
  EXPECT_THAT(first(FillKind::Uniform), ElementsAre(11, -71, 4, -61, 50, -96, 125, 92));
  EXPECT_THAT(first(FillKind::Saturate), ElementsAre(-128, 127, 4, -61, 127, -96, -128, 92));
  EXPECT_THAT(first(FillKind::Outlier), ElementsAre(-2, -3, 0, -128, 0, -4, 3, 3));
}

TEST(FillTest, SeedKeyAndTensorEachChangeTheData) {
  const auto hash = [](const DataKey& k) { return hash_of(make_filled(DType::F32, {64}, {}, {}, k)); };
  const std::set<std::string> hashes{hash({0, 0, 0}), hash({1, 0, 0}), hash({0, 1, 0}), hash({0, 0, 1})};
  EXPECT_EQ(hashes.size(), 4U);
  EXPECT_EQ(hash({5, 6, 7}), hash({5, 6, 7}));
}

TEST(FillTest, HalfDataAreTheFloatDataRounded) {
  for (const FillKind kind : {FillKind::Normal, FillKind::Uniform, FillKind::Ties, FillKind::Outlier}) {
    const HostTensor floats = filled(DType::F32, kind), halves = filled(DType::F16, kind);
    for (std::size_t i = 0; i < 20000; ++i) {
      ASSERT_EQ(halves.as<Half>()[i], to_half(floats.as<float>()[i])) << name_of(kind);
    }
  }
}

TEST(FillTest, WhatCannotBeFilledIsAMistakeOfTheOp) {
  EXPECT_THROW(filled(DType::I8, FillKind::Normal, {.role = FillRole::Scale}, 4), std::logic_error);
  EXPECT_THROW(filled(DType::F32, FillKind::Normal, {.role = FillRole::Index}, 4), std::logic_error);
  EXPECT_THROW(filled(DType::F64, FillKind::Normal, {}, 4), std::logic_error);
  EXPECT_THROW(filled(DType::F32, FillKind::Npy, {}, 4), std::logic_error);
}

}  // namespace
}  // namespace assay
