#include "harness/base/error.h"
#include "harness/tensor/fill/fill_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

bool is_odd_multiple(double value, double step) {
  const double steps = value / step;
  return std::floor(steps) == steps && std::fmod(std::abs(steps), 2.0) == 1;
}

TEST(FillFloatTest, NormalDataHaveMeanZeroAndUnitVariance) {
  const std::vector<double> all = values(DType::F32, FillKind::Normal);
  EXPECT_NEAR(mean(all), 0, 0.03);
  EXPECT_NEAR(deviation(all), 1, 0.02);
  EXPECT_NEAR(share(all, [](double x) { return std::abs(x) < 1; }), 0.68, 0.02);
  EXPECT_GT(share(all, [](double x) { return std::abs(x) > 3; }), 0);
}

TEST(FillFloatTest, UniformDataFillMinusOneToOne) {
  const std::vector<double> all = values(DType::F32, FillKind::Uniform);
  EXPECT_NEAR(mean(all), 0, 0.02);
  EXPECT_NEAR(deviation(all), 0.577, 0.01);
  EXPECT_GE(std::ranges::min(all), -1);
  EXPECT_LT(std::ranges::max(all), 1);
}

TEST(FillFloatTest, TieDataHoldTiesOfEveryScaleFromAQuarterToASixteenth) {
  for (const DType dtype : float_dtypes) {
    const std::vector<double> all = values(dtype, FillKind::Ties);
    for (const double scale : {0x1p-2, 0x1p-3, 0x1p-4}) {
      EXPECT_NEAR(share(all, [&](double x) { return is_odd_multiple(x, scale / 2); }), 1.0 / 3, 0.02);
    }
    EXPECT_LT(std::ranges::max(all), 8);
    EXPECT_GT(std::ranges::max(all), 7.5);
    EXPECT_GT(std::ranges::min(all), -8);
    EXPECT_LT(std::ranges::min(all), -7.5);
  }
}

TEST(FillFloatTest, NoValueExceedsTheMagnitudeOfTheDomainAndNanStays) {
  for (const DType dtype : float_dtypes) {
    for (const FillKind kind : all_kinds) {
      const std::vector<double> free = values(dtype, kind);
      const std::vector<double> cut = values(dtype, kind, {.most = 2});
      for (std::size_t i = 0; i < free.size(); ++i) {
        const double expected = std::clamp(free[i], -2.0, 2.0);  // NaN stays
        ASSERT_TRUE(cut[i] == expected || (std::isnan(cut[i]) && std::isnan(expected))) << i;
      }
    }
  }
}

TEST(FillFloatTest, AMagnitudeBeyondTheTypeCutsInfinitiesToItsLargestNumber) {
  const std::vector<double> all = values(DType::F16, FillKind::Special, {.most = 0x1p60});
  EXPECT_EQ(std::ranges::count_if(all, [](double x) { return std::isinf(x); }), 0);
  EXPECT_GT(share(all, [](double x) { return x == 65504; }), 0);
}

TEST(FloatDataFill, WhatIsAddedToScoresIsANumberOrMinusInfinity) {
  for (const FillKind kind : {FillKind::Special, FillKind::Mixed, FillKind::Nan, FillKind::Saturate}) {
    const std::vector<double> all = values(DType::F32, kind, {.most = 8, .hides = true});
    const auto is_mask = [](double value) { return std::fabs(value) <= 8 || value == -HUGE_VAL; };
    EXPECT_TRUE(std::ranges::all_of(all, is_mask)) << name_of(kind);
    EXPECT_EQ(std::ranges::count(all, -HUGE_VAL) > 0, kind != FillKind::Saturate) << name_of(kind);
    EXPECT_EQ(std::ranges::count(all, 8) > 0, kind != FillKind::Nan) << name_of(kind);
  }
}

TEST(FloatDataFill, RowsThatDoNotExistYetAreNan) {
  for (const DType dtype : {DType::F32, DType::F16}) {
    const HostTensor all = make_filled(dtype, {2, 5, 3}, {}, {.valid = 4, .valid_axis = 1}, {});
    const HostTensor plain = make_filled(dtype, {2, 5, 3}, {}, {}, {});
    for (std::int64_t i = 0; i < all.numel(); ++i) {
      if (i / 3 % 5 == 4) {
        EXPECT_TRUE(std::isnan(all.at(i))) << i;
      } else {
        EXPECT_EQ(all.at(i), plain.at(i)) << i;
      }
    }
  }
}

TEST(FillFloatTest, SaturatingDataExceedTheGivenMagnitudeOnBothSides) {
  for (const double hi : {0.0, 100.0}) {
    const double magnitude = hi == 0 ? 1024 : hi;
    const std::vector<double> all = values(DType::F32, FillKind::Saturate, {.hi = hi});
    EXPECT_NEAR(share(all, [&](double x) { return std::abs(x) >= magnitude / 4; }), 0.5, 0.02);
    EXPECT_GT(share(all, [&](double x) { return x > magnitude; }), 0.1);
    EXPECT_GT(share(all, [&](double x) { return x < -magnitude; }), 0.1);
    EXPECT_LE(std::ranges::max(all), 2 * magnitude);
  }
}

TEST(FillFloatTest, SaturatingHalvesStayFinite) {
  for (const double x : values(DType::F16, FillKind::Saturate, {.hi = 1e9})) ASSERT_TRUE(std::isfinite(x));
}

TEST(FillFloatTest, WideDataSpreadOverTheExponents) {
  const std::vector<double> all = values(DType::F32, FillKind::Wide);
  std::set<int> exponents;
  for (const double x : all) exponents.insert(std::ilogb(x));
  EXPECT_EQ(exponents.size(), 41U);
  EXPECT_EQ(*exponents.begin(), -20);
  EXPECT_EQ(*exponents.rbegin(), 20);
  EXPECT_NEAR(share(all, [](double x) { return x < 0; }), 0.5, 0.02);
}

TEST(FillFloatTest, WideHalvesAreNormalAndFinite) {
  for (const double x : values(DType::F16, FillKind::Wide)) {
    ASSERT_TRUE(std::isfinite(x));
    ASSERT_GE(std::abs(x), 0x1p-14);
  }
}

TEST(FillFloatTest, ConstantDataAreTheValueOrOne) {
  EXPECT_THAT(values(DType::F32, FillKind::Constant, {}, 3), ElementsAre(1, 1, 1));
  const FillSpec fill{.kind = FillKind::Constant, .value = -0.75};
  EXPECT_THAT(values(make_filled(DType::F16, {2}, fill, {}, key)), ElementsAre(-0.75, -0.75));
}

TEST(FillFloatTest, AConstantBeyondTheDTypeIsRefused) {
  const FillSpec fill{.kind = FillKind::Constant, .value = 70000};
  EXPECT_NO_THROW(make_filled(DType::F32, {2}, fill, {}, key));
  EXPECT_THAT([&] { make_filled(DType::F16, {2}, fill, {}, key); },
              ThrowsMessage<Error>(HasSubstr("70000 is beyond the largest f16, 65504")));
}

TEST(FillFloatTest, ZeroDataAreZero) {
  EXPECT_THAT(values(DType::F32, FillKind::Zero, {}, 3), ElementsAre(0, 0, 0));
}

TEST(FillFloatTest, OutlierDataAreSmallButForAFewLargeOnes) {
  const std::vector<double> all = values(DType::F32, FillKind::Outlier);
  EXPECT_NEAR(share(all, [](double x) { return std::abs(x) == 20; }), 1.0 / 64, 0.004);
  EXPECT_EQ(share(all, [](double x) { return std::abs(x) > 0.2 && std::abs(x) != 20; }), 0);
  EXPECT_GT(share(all, [](double x) { return x == 20; }), 0);
  EXPECT_GT(share(all, [](double x) { return x == -20; }), 0);
}

TEST(FillFloatTest, EveryTensorOfEightElementsHasAnOutlier) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const HostTensor floats = make_filled(DType::F32, {8}, {.kind = FillKind::Outlier}, {}, {seed, 0, 0});
    ASSERT_GT(share(values(floats), [](double x) { return std::abs(x) == 20; }), 0) << seed;
    const HostTensor bytes = make_filled(DType::I8, {8}, {.kind = FillKind::Outlier}, {}, {seed, 0, 0});
    ASSERT_GT(share(values(bytes), [](double x) { return x == -128 || x == 127; }), 0) << seed;
  }
}

TEST(FillFloatTest, SpecialDataHoldEverySpecialValueOfTheDType) {
  const std::vector<double> singles = values(DType::F32, FillKind::Special, {}, 64);
  const std::vector<double> halves = values(DType::F16, FillKind::Special, {}, 64);
  for (const auto& all : {singles, halves}) {
    EXPECT_GT(share(all, [](double x) { return std::isnan(x); }), 0);
    EXPECT_GT(share(all, [](double x) { return std::isinf(x) && x > 0; }), 0);
    EXPECT_GT(share(all, [](double x) { return std::isinf(x) && x < 0; }), 0);
    EXPECT_GT(share(all, [](double x) { return x == 0 && std::signbit(x); }), 0);
    EXPECT_GT(share(all, [](double x) { return x == 0 && !std::signbit(x); }), 0);
    EXPECT_GT(share(all, [](double x) { return std::isfinite(x) && x != 0 && std::abs(x) < 4; }), 0.3);
  }
  EXPECT_THAT(singles, testing::Contains(0x1p-149));
  EXPECT_THAT(singles, testing::Contains(-0x1.fffffep127));
  EXPECT_THAT(halves, testing::Contains(0x1p-24));
  EXPECT_THAT(halves, testing::Contains(-65504));
}

bool none_of(const std::vector<double>& row, bool (*predicate)(double)) {
  return std::ranges::none_of(row, predicate);
}

TEST(FillFloatTest, MixedRowsAreOfEightKindsInTurn) {
  constexpr std::int64_t width = 64;
  for (const DType dtype : float_dtypes) {
    const HostTensor all = make_filled(dtype, {3, 3, width}, {.kind = FillKind::Mixed}, {}, key);
    const std::vector<double> flat = values(all);
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < 9; ++i) rows.emplace_back(&flat[i * width], &flat[i * width] + width);
    const auto finite = [](double x) { return std::isfinite(x); };
    const auto not_finite = [](double x) { return !std::isfinite(x); };
    EXPECT_TRUE(none_of(rows[0], not_finite));
    EXPECT_TRUE(none_of(rows[1], [](double x) { return x != 0; }));
    EXPECT_TRUE(none_of(rows[2], [](double x) { return std::abs(x - 0.3) > 1e-4; }));
    EXPECT_TRUE(none_of(rows[3], [](double x) { return std::abs(x) > 0x1p-9; }));
    EXPECT_FALSE(none_of(rows[3], [](double x) { return x != 0; }));
    EXPECT_EQ(share(rows[4], [](double x) { return std::abs(x) == 20; }), 1.0 / width);
    EXPECT_NEAR(share(rows[5], not_finite), 0.25, 0.15);
    EXPECT_TRUE(none_of(rows[6], [](double x) { return x > -0.5; }));
    EXPECT_TRUE(none_of(rows[7], finite));
    EXPECT_TRUE(none_of(rows[8], not_finite));  // the kinds repeat from the start
  }
}

TEST(FillFloatTest, MixedTensorsOfFewRowsChangeByEighths) {
  const std::vector<double> all = values(DType::F32, FillKind::Mixed, {}, 80);
  EXPECT_TRUE(std::all_of(all.begin() + 10, all.begin() + 20, [](double x) { return x == 0; }));
  EXPECT_TRUE(std::all_of(all.begin() + 70, all.end(), [](double x) { return !std::isfinite(x); }));
}

TEST(FillFloatTest, NanDataAreNormalButForNanOfBothSignsAndManyPayloads) {
  for (const DType dtype : float_dtypes) {
    const std::vector<double> all = values(dtype, FillKind::Nan);
    EXPECT_NEAR(share(all, [](double x) { return std::isnan(x); }), 0.25, 0.02);
    EXPECT_NEAR(share(all, [](double x) { return std::isnan(x) && std::signbit(x); }), 0.125, 0.02);
    EXPECT_EQ(share(all, [](double x) { return std::isinf(x); }), 0);
    EXPECT_GT(share(all, [](double x) { return std::abs(x) < 1; }), 0.4);
  }
  std::set<std::uint16_t> payloads;
  const HostTensor halves = filled(DType::F16, FillKind::Nan);  // a temporary would end before the loop
  for (const Half x : halves.as<Half>()) {
    if (std::isnan(to_float(x))) payloads.insert(x.bits & 0x1ffU);
  }
  EXPECT_EQ(payloads.size(), 512U);
}

TEST(FillFloatTest, EveryNanTensorOfEightElementsHasOneWhoseSignIsSet) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<double> all =
        values(make_filled(DType::F32, {8}, {.kind = FillKind::Nan}, {}, {seed, 0, 0}));
    ASSERT_GT(share(all, [](double x) { return std::isnan(x) && std::signbit(x); }), 0) << seed;
  }
}

TEST(FillFloatTest, EndsDataAreLargeAtBothEndsOfEachRowAndSmallBetween) {
  constexpr std::size_t width = 33;
  for (const DType dtype : float_dtypes) {
    const std::vector<double> all =
        values(make_filled(dtype, {2, 5, width}, {.kind = FillKind::Ends}, {}, key));
    std::set<bool> last_is_negative;
    for (std::size_t row = 0; row < all.size(); row += width) {
      const double first = all[row], last = all[row + width - 1];
      for (const double end : {first, last}) {
        EXPECT_GE(std::abs(end), 10);
        EXPECT_LE(std::abs(end), 20);
      }
      EXPECT_LT(first * last, 0);
      last_is_negative.insert(last < 0);
      for (std::size_t i = 1; i + 2 < width; ++i) EXPECT_LT(std::abs(all[row + i]), 0.5);
      EXPECT_EQ(std::isfinite(all[row + width - 2]), row / width % 2 == 0);
    }
    EXPECT_EQ(last_is_negative.size(), 2U);
  }
}

TEST(FillIntegerTest, IntegerDataStayInTheirRangeForEveryFill) {
  for (const DType dtype : integer_dtypes) {
    for (const FillKind kind : all_kinds) {
      for (const FillDomain domain :
           {FillDomain{.lo = 0, .hi = 15}, {.lo = 1, .hi = 1}, {.lo = 5, .hi = 100}}) {
        const std::vector<double> all = values(dtype, kind, domain, 3000);
        ASSERT_GE(std::ranges::min(all), domain.lo) << name_of(dtype) << " " << name_of(kind);
        ASSERT_LE(std::ranges::max(all), domain.hi) << name_of(dtype) << " " << name_of(kind);
      }
    }
  }
}

TEST(FillIntegerTest, NegativeRangesAreKeptToo) {
  for (const DType dtype : {DType::I32, DType::I16, DType::I8}) {
    for (const FillKind kind : all_kinds) {
      const std::vector<double> all = values(dtype, kind, {.lo = -100, .hi = -7}, 3000);
      ASSERT_GE(std::ranges::min(all), -100) << name_of(kind);
      ASSERT_LE(std::ranges::max(all), -7) << name_of(kind);
    }
  }
}

TEST(FillIntegerTest, NoRangeMeansTheWholeDType) {
  for (const DType dtype : {DType::I8, DType::U8}) {
    const std::vector<double> all = values(dtype, FillKind::Uniform);
    EXPECT_EQ(std::ranges::min(all), lowest(dtype));
    EXPECT_EQ(std::ranges::max(all), highest(dtype));
  }
  const std::vector<double> words = values(DType::I32, FillKind::Uniform);
  EXPECT_LT(std::ranges::min(words), -2.1e9);
  EXPECT_GT(std::ranges::max(words), 2.1e9);
}

TEST(FillIntegerTest, NormalIntegersFormABellAroundTheMiddle) {
  const std::vector<double> all = values(DType::I8, FillKind::Normal);
  EXPECT_NEAR(mean(all), -0.5, 1);
  EXPECT_NEAR(deviation(all), 256.0 / 6, 1);
  const std::vector<double> words = values(DType::I32, FillKind::Normal);
  EXPECT_NEAR(deviation(words), 0x1p32 / 6, 0x1p32 / 100);
}

TEST(FillIntegerTest, HalfOfTheSaturatingIntegersLieAtTheEnds) {
  const std::vector<double> all = values(DType::I32, FillKind::Saturate, {.lo = -1000, .hi = 1000});
  EXPECT_NEAR(share(all, [](double x) { return x == -1000; }), 0.25, 0.02);
  EXPECT_NEAR(share(all, [](double x) { return x == 1000; }), 0.25, 0.02);
}

TEST(FillIntegerTest, OutlierIntegersAreSmallButForAFewAtTheEnds) {
  const std::vector<double> all = values(DType::I8, FillKind::Outlier);
  EXPECT_NEAR(share(all, [](double x) { return x == -128 || x == 127; }), 1.0 / 64, 0.004);
  EXPECT_EQ(share(all, [](double x) { return std::abs(x) > 4 && x != -128 && x != 127; }), 0);
  EXPECT_NEAR(share(values(DType::U8, FillKind::Outlier), [](double x) { return x == 255; }), 1.0 / 64,
              0.004);
}

TEST(FillIntegerTest, ConstantIntegersAreTheValueOrNextToTheMiddle) {
  EXPECT_THAT(values(DType::U8, FillKind::Constant, {.lo = 0, .hi = 15}, 2), ElementsAre(8, 8));
  const FillSpec fill{.kind = FillKind::Constant, .value = 3};
  EXPECT_THAT(values(make_filled(DType::I8, {2}, fill, {}, key)), ElementsAre(3, 3));
}

TEST(FillIntegerTest, AConstantThatIsNoIntegerOfTheRangeIsRefused) {
  for (const double value : {16.0, -1.0, 2.5, std::nan("")}) {
    const FillSpec fill{.kind = FillKind::Constant, .value = value};
    EXPECT_THAT([&] { make_filled(DType::U8, {2}, fill, {.lo = 0, .hi = 15}, key); },
                ThrowsMessage<Error>(HasSubstr("must be an integer between 0 and 15")))
        << value;
  }
}

TEST(FillIntegerTest, ARangeThatTheDTypeCannotHoldIsRefused) {
  for (const FillDomain domain :
       {FillDomain{.lo = 0, .hi = 256}, {.lo = -1, .hi = 5}, {.lo = 5, .hi = 4}, {.lo = 0.5, .hi = 4}}) {
    EXPECT_THAT([&] { filled(DType::U8, FillKind::Uniform, domain, 4); },
                ThrowsMessage<Error>(HasSubstr("is not a range of its integers")));
  }
}

TEST(FillIntegerTest, ZeroPointsStayInTheirRangeForEveryFillAndDType) {
  const FillDomain domain{FillRole::ZeroPoint, 0, 15};
  for (const FillKind kind : all_kinds) {
    for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8}) {
      const std::vector<double> all = values(dtype, kind, domain, 3000);
      ASSERT_GE(std::ranges::min(all), 0) << name_of(kind);
      ASSERT_LE(std::ranges::max(all), 15) << name_of(kind);
      if (kind != FillKind::Zero && kind != FillKind::Constant) {
        ASSERT_EQ(std::ranges::min(all), 0);
        ASSERT_EQ(std::ranges::max(all), 15);
      }
    }
  }
}

TEST(FillIntegerTest, ZeroPointsAreNeverAllZeroUnlessAskedFor) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const DType dtype : {DType::I32, DType::F32}) {
      for (const FillDomain& domain : {FillDomain{FillRole::ZeroPoint, 0, 1}, {FillRole::ZeroPoint, -1, 0}}) {
        ASSERT_NE(make_filled(dtype, {1}, {}, domain, {seed, 0, 0}).at(0), 0);
      }
    }
  }
  EXPECT_THAT(values(DType::I32, FillKind::Zero, {FillRole::ZeroPoint, -8, 7}, 2), ElementsAre(0, 0));
  EXPECT_THAT(values(DType::I32, FillKind::Zero, {FillRole::ZeroPoint, 3, 7}, 2), ElementsAre(3, 3));
  EXPECT_THAT(values(DType::I32, FillKind::Normal, {FillRole::ZeroPoint, 0, 0}, 2), ElementsAre(0, 0));
}

TEST(FillIntegerTest, ConstantZeroPointsAreTheValueOrThree) {
  EXPECT_THAT(values(DType::I32, FillKind::Constant, {FillRole::ZeroPoint, -8, 7}, 1), ElementsAre(3));
  EXPECT_THAT(values(DType::I32, FillKind::Constant, {FillRole::ZeroPoint, 0, 2}, 1), ElementsAre(2));
  EXPECT_THAT(values(DType::F32, FillKind::Constant, {FillRole::ZeroPoint, -8, 7}, 1), ElementsAre(3));
  const FillSpec fill{.kind = FillKind::Constant, .value = 9};
  for (const DType dtype : {DType::I32, DType::F32}) {
    EXPECT_THROW(make_filled(dtype, {1}, fill, {FillRole::ZeroPoint, -8, 7}, key), Error);
  }
}

TEST(FillIntegerTest, IndicesCoverTheirRange) {
  for (const FillKind kind : all_kinds) {
    const std::vector<double> all = values(DType::I32, kind, {FillRole::Index, 0, 99}, 5000);
    ASSERT_GE(std::ranges::min(all), 0);
    ASSERT_LE(std::ranges::max(all), 99);
    if (kind != FillKind::Zero && kind != FillKind::Constant) {
      ASSERT_EQ(std::set<double>(all.begin(), all.end()).size(), 100U) << name_of(kind);
    }
  }
  EXPECT_THAT(values(DType::I32, FillKind::Normal, {FillRole::Index, 0, 0}, 2), ElementsAre(0, 0));
}

}  // namespace

}  // namespace assay
