#include "harness/core/fill_test.h"

#include "harness/core/fill_rules.h"
#include "harness/core/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

using namespace fill_test;

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
    const FillRequest request{DType::F32, kind, {}, {}, whole.numel(), random.pick(whole.numel())};
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
